// Guards: window capture listeners that stay idle until armed. While armed, trusted input that would reach another
// element than the target is stopped before the page sees it. Only this world knows of them.

const GUARDED = {
  pointer: ['pointerdown', 'pointerup'],
  mouse: ['mousedown', 'mouseup'],
  click: ['click', 'dblclick', 'auxclick', 'contextmenu'],
  move: ['pointermove', 'mousemove'],
  drag: ['dragstart', 'drop', 'dragend'],
  over: ['dragover'],
  key: ['keydown', 'keypress', 'keyup'],
  input: ['beforeinput'],
};
const GUARD_LIFE = 10000;
const KIND_OF_TYPE = new Map(Object.entries(GUARDED).flatMap(([kind, types]) => types.map((type) => [type, kind])));
const MAX_TYPES = 32;
let armed = null;

// document.open() removes listeners of every world, so they are added again whenever a guard is armed; adding one
// that is there does nothing.
function listen() {
  for (const type of KIND_OF_TYPE.keys()) M.addEventListener(win, type, onGuarded, { capture: true, passive: false, signal: LISTENING });
  M.addEventListener(win, 'beforeprint', onPrint, { capture: true, passive: true, signal: LISTENING });
}

// Nothing is printed, and nothing is shown: it is told alone.
function onPrint() {
  if (Object.hasOwn(globalThis, 'glassReport')) globalThis.glassReport('{"print":true}');
}
listen();

function arm(args) {
  listen();
  const target = args.ref === null || args.ref === undefined ? null : required(args).el;
  armed = {
    token: String(args.token),
    aim: target && new WeakRef(target),
    // Without a target everything is stopped, unless it is only watched.
    block: target === null && args.watch !== true,
    watch: args.watch === true,
    kinds: new Set(args.kinds || ['pointer', 'mouse', 'click', 'key', 'input']),
    until: clock() + GUARD_LIFE,
    seen: 0,
    stopped: 0,
    hit: null,
    wrong: null,
    types: [],
    at: null,
    first: null,
    pressed: null,
    landed: false,
    doubled: false,
    ref: args.ref,
    left: false,
    before: null,
    strayed: false,
    dropped: null,
  };
  return { ok: true };
}

function onGuarded(event) {
  const guard = armed;
  if (guard === null || !event.isTrusted) return;
  const kind = KIND_OF_TYPE.get(event.type);
  if (!guard.kinds.has(kind)) return;
  // By the time of the input, not of its delivery: a page that spins delivers late.
  if (event.timeStamp > guard.until) {
    armed = null;
    return;
  }
  guard.seen += 1;
  if (guard.types.length < MAX_TYPES) guard.types.push(event.type);
  if (guard.at === null) guard.at = event.timeStamp;
  const path = event.composedPath();
  const keyed = kind === 'key' || kind === 'input';
  // A key may go up elsewhere than it went down: it moved the focus.
  if (event.type === 'keyup') return;
  // The first event of each press decides for all of it: what follows a press that reached its target is the page's own
  // doing, as it would be for a person. Keys are judged one by one, since the focus may move between them.
  if (event.type === 'pointerdown') guard.pressed = null;
  const right =
    keyed || guard.pressed === null
      ? guard.watch || (!guard.block && !(keyed && guard.strayed) && reaches(path, guard.aim.deref(), keyed))
      : guard.pressed;
  if (!keyed) guard.pressed = right;
  if (right && !keyed && guard.aim && guard.before === null) guard.before = standing(guard.aim.deref());
  // Taken out of the page by the page's own answer to the press: no click can reach it.
  if (right && !guard.watch && (event.type === 'pointerup' || event.type === 'mouseup')) {
    const pressed = guard.aim.deref();
    guard.left = guard.left || !pressed || !G.isConnected(pressed);
  }
  const innermost = isElement(path[0]) ? path[0] : null;
  if (right) {
    if (kind === 'click') {
      const landed = guard.watch || reaches(path, guard.aim.deref(), false);
      guard.landed = guard.landed || landed;
      guard.doubled = guard.doubled || (landed && event.type === 'dblclick');
    }
    if (event.type === 'drop') guard.dropped = innermost && new WeakRef(innermost);
    if (guard.first === null) {
      guard.first = event;
      guard.hit = innermost && new WeakRef(innermost);
      tell(guard, event.type, 'hit', guard.hit);
    }
    return;
  }
  event.stopImmediatePropagation();
  event.preventDefault();
  guard.stopped += 1;
  // A text with a gap would be worse than one that ends.
  if (keyed) guard.strayed = true;
  if (guard.wrong === null) {
    guard.wrong = innermost && new WeakRef(innermost);
    tell(guard, event.type, 'wrong', guard.wrong);
  }
}

// Says at once what a press reached or would have reached: the page may go away before the guard is asked.
function tell(guard, type, what, weak) {
  if (!Object.hasOwn(globalThis, 'glassReport')) return;
  globalThis.glassReport(
    JSON.stringify({ token: guard.token, type, [what]: received(weak, guard.aim?.deref() || null) }),
  );
}

function acceptedFor(target) {
  const accepted = receivers(target);
  // Events are seen from the window, where the inside of a closed shadow root is its host.
  for (let node = target; node;) {
    const root = M.getRootNode(node);
    if (!isShadow(root)) break;
    if (G.mode(root) === 'closed') accepted.push(G.host(root));
    node = G.host(root);
  }
  if (tagOf(target) === 'label' && G.control(target)) accepted.push(G.control(target));
  return accepted;
}

function reaches(path, target, keyed) {
  if (!target) return false;
  const accepted = acceptedFor(target);
  const at = path.findIndex((n) => accepted.includes(n));
  // A control inside the target is another target, unless there was no way round it.
  const through =
    !keyed &&
    clearPoints.get(target) === true &&
    path.slice(0, Math.max(at, 0)).some((n) => isElement(n) && isNestedControl(n) && !accepted.includes(n));
  if (at >= 0) return !through;
  if (!keyed) return false;
  // Keys go to the editing host or to the field that the target forwards its focus to.
  const field = fieldOf(target);
  return Boolean(field) && path.includes(field);
}

// The control that received the event, or the innermost element where there is none. What the target accepts in its
// place (its label, the host of a closed shadow root) is told as the target.
function received(weak, target) {
  const el = weak?.deref();
  if (!el) return null;
  const accepted = target ? acceptedFor(target) : [];
  const control = nearest(el, (node) => accepted.includes(node) || CONTROL_ROLES.has(rowRole(node, tagOf(node))));
  return describe(accepted.includes(control) ? target : control || el);
}

// A press answers by opening or closing what its target stands for, or by focusing the field that it is.
const FIELD_PRESSED =
  'textarea,input:not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit]):not([type=reset]):not([type=image]):not([type=file]):not([type=color])';

function standing(el) {
  const control = el && tagOf(el) === 'label' ? G.control(el) : el;
  if (!control) return { expanded: null, focused: null };
  return {
    expanded: attribute(control, 'aria-expanded'),
    focused: M.matches(control, FIELD_PRESSED) ? activeElement() === control : null,
  };
}

// What opened may take the rest of the press.
function answered(guard) {
  const el = guard.aim?.deref();
  if (!el || guard.landed || guard.before === null || !G.isConnected(el)) return false;
  const now = standing(el);
  const { expanded, focused } = guard.before;
  return (expanded !== null && now.expanded !== null && now.expanded !== expanded) || (focused === false && now.focused === true);
}

// One that was only drawn anew stands there again.
function leftNothingAlike(ref) {
  const { stale } = resolve(ref);
  return Boolean(stale) && stale.reason === 'detached' && stale.candidates.length === 0;
}

function report(guard) {
  const target = guard.aim?.deref() || null;
  return {
    seen: guard.seen,
    landed: guard.landed,
    doubled: guard.doubled,
    left: guard.left && !guard.landed && leftNothingAlike(guard.ref),
    answered: answered(guard),
    stopped: guard.stopped,
    hit: received(guard.hit, target),
    wrong: received(guard.wrong, target),
    types: guard.types,
    dropped: received(guard.dropped, target),
    dispatchedAt: guard.at,
    prevented: guard.first ? guard.first.defaultPrevented : false,
  };
}

const NOTHING_SEEN = {
  seen: 0,
  landed: false,
  doubled: false,
  left: false,
  answered: false,
  stopped: 0,
  hit: null,
  wrong: null,
  dropped: null,
  types: [],
  dispatchedAt: null,
  prevented: false,
};

function disarm(args) {
  const guard = armed;
  if (!guard || guard.token !== String(args.token)) return NOTHING_SEEN;
  armed = null;
  return report(guard);
}
