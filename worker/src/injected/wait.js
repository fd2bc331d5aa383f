// Waits: a condition is looked at again when something happened, and every tenth of a second for what tells nobody.

const waits = new Map();
const LOOK_EVERY = 100;
const WAKE_EVENTS = ['popstate', 'hashchange', 'load', 'transitionend', 'animationend', 'toggle', 'input', 'change'];

// → {ok: true} | {ok: false, last} | {ok: false, ambiguous} | {ok: false, cancelled: true}
function waitFor(args) {
  const id = String(args.id);
  const test = conditionTest(args.condition || {});
  const until = clock() + (args.timeoutMs ?? 10000);
  if (waits.has(id)) throw new Failure('bad_argument', { detail: 'id' });
  return new Promise((done, fail) => {
    let timer = 0;
    let frame = 0;
    let spent = 0;
    let last = null;
    const end = (answer) => {
      clearTimer(timer);
      offFrame(frame);
      watchers.delete(wake);
      for (const type of WAKE_EVENTS) M.removeEventListener(win, type, wake, { capture: true });
      waits.delete(id);
      done(answer);
    };
    const look = () => {
      clearTimer(timer);
      offFrame(frame);
      frame = 0;
      const began = clock();
      let seen;
      try {
        seen = test();
      } catch (error) {
        end(null);
        fail(error);
        return;
      }
      spent = clock() - began;
      if (seen.ok) return end({ ok: true, ...seen });
      if (seen.ambiguous) return end({ ok: false, ambiguous: seen.ambiguous });
      last = seen.last;
      if (clock() >= until) return end({ ok: false, last });
      // A look that costs much is not taken at every frame.
      timer = setTimer(look, Math.min(Math.max(LOOK_EVERY, spent * 4), Math.max(1, until - clock())));
    };
    const wake = () => {
      if (frame === 0 && spent < 12) frame = onFrame(look);
    };
    waits.set(id, () => end({ ok: false, cancelled: true, last }));
    watchers.add(wake);
    for (const type of WAKE_EVENTS) M.addEventListener(win, type, wake, { capture: true, passive: true });
    look();
  });
}

function cancelWait(args) {
  const cancel = waits.get(String(args.id));
  if (cancel) cancel();
  return { ok: cancel !== undefined };
}

function conditionTest(condition) {
  const value = String(condition.value ?? '');
  switch (condition.kind) {
    case 'text':
    case 'goneText': {
      const wanted = comparable(value);
      const gone = condition.kind === 'goneText';
      return () => {
        const found = comparableText().includes(wanted);
        return { ok: found !== gone, last: { found } };
      };
    }
    case 'title':
      return () => ({ ok: comparable(G.title(doc)) === comparable(value), last: { title: shown(G.title(doc)) } });
    case 'url':
      return () => ({ ok: G.URL(doc) === value, last: { url: cutChars(G.URL(doc), 2048) } });
    case 'urlPrefix':
      return () => ({ ok: G.URL(doc).startsWith(value), last: { url: cutChars(G.URL(doc), 2048) } });
    case 'visible':
    case 'hidden':
    case 'attached':
    case 'detached':
    case 'enabled':
    case 'disabled':
    case 'count':
      return () => locatorState(condition);
    default:
      throw new Failure('bad_argument', { detail: 'condition' });
  }
}

let comparedModel = null;
let comparedText = '';

// The document's text in comparable form, made once for each model.
function comparableText() {
  const model = refresh();
  if (comparedModel !== model) {
    comparedModel = model;
    comparedText = collapse(model.text.normalize('NFC').replace(UNSEEN, ''));
  }
  return comparedText;
}

function locatorState(condition) {
  const kind = condition.kind;
  const locator = condition.locator;
  const counted = kind === 'attached' || kind === 'detached' || kind === 'count';
  const elements = matched(locator, condition.scopeRef, counted ? 'always' : 'never');
  const total = elements.visible.length;
  const last = { total, hidden: elements.hidden.length };
  if (kind === 'count') return { ok: total + elements.hidden.length === Number(condition.value), last };
  if (kind === 'hidden') return { ok: total === 0, last };
  if (kind === 'detached') return { ok: total + elements.hidden.length === 0, last };
  const pool = kind === 'attached' ? [...elements.visible, ...elements.hidden] : elements.visible;
  const mode = condition.match || 'unique';
  if (mode === 'unique' && pool.length > 1) {
    return {
      ok: false,
      last,
      ambiguous: { total: pool.length, matches: pool.slice(0, 8).map((el) => match(el, hiddenReason(el) === null)) },
    };
  }
  const passes = kind === 'enabled' ? isEnabled : kind === 'disabled' ? (el) => !isEnabled(el) : () => true;
  const good = pool.filter(passes);
  const ok = mode === 'all' ? pool.length > 0 && good.length === pool.length : good.length > 0;
  return ok ? { ok, last, ref: refOf(good[0]) } : { ok, last };
}

function matched(locator, scopeRef, hiddenToo) {
  if (locator?.kind === 'ref') {
    const found = resolve(locator.ref, locator.asOf);
    if (!found.el) return { visible: [], hidden: [] };
    return split([found.el]);
  }
  let scope = null;
  if (scopeRef !== undefined) {
    scope = resolve(scopeRef).el;
    if (!scope) return { visible: [], hidden: [] };
  }
  return findAll(locator, scope, hiddenToo);
}
