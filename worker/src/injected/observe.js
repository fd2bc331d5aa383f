// The bounded observation: which rows of the model are told, in what form, and what was left out.

const HEAD_SHARE = 2 / 3;
const MEASURED = 4000;

function rowAnswer(row, depth, options) {
  const { el, fact } = row;
  const name = row.name;
  const answer = { ref: show(el, row.role, name, row), depth, role: row.role, name: shown(name) };
  if (options.places && isAlone(row)) answer.place = placeOf(row);
  // Names are compared by their beginning; the length told is that of the whole.
  const length = name.length < COMPARE_CHARS ? name.length : Math.max(name.length, (G.computedName(el) || '').length);
  if (length > NAME_CHARS) answer.nameLength = length;
  if (row.role === 'heading' || row.role === 'treeitem') answer.level = fact.level;
  answer.states = row.states ? row.states.split(',') : [];
  if (options.values && row.value !== undefined && row.value !== '' && !fact.secret) {
    answer.value = shown(row.value);
    if (row.value.length > NAME_CHARS) answer.valueLength = row.value.length;
  }
  if (fact.options > 0) answer.options = fact.options;
  if (row.kind === 'holder' && row.role !== 'row') answer.rowsTotal = tableRows(el, fact.tag);
  const given = frameLabels.get(el);
  if (given) answer.frame = given;
  // Without a name its size is all there is to tell.
  if (options.boxes || (row.kind === 'named' && name === '')) {
    const anchor = anchorOf(el);
    const own = box(anchor);
    const rect = own.width > 0 && own.height > 0 ? own : areas(anchor)[0] || own;
    answer.box = [rect.x, rect.y, rect.width, rect.height].map(Math.round);
  }
  if (options.urls && fact.tag === 'a') answer.url = shown(G.href(el));
  return answer;
}

const isActive = (row) => row.kind === 'control' || row.kind === 'clickable';

// Rows that come before others: dialogs, popups and menus with what they hold, and the focus; then controls on the
// screen. A row brings those it lies in.
function pressing(rows) {
  const urgent = new Set();
  const onScreen = new Set();
  const hold = (row, set) => {
    for (let at = row; at && !set.has(at); at = at.parent) set.add(at);
  };
  const all = revision.model.rows;
  const { width, height } = viewport();
  let measured = 0;
  for (const row of rows) {
    if (row.inert) continue;
    const role = row.role;
    if (
      role === 'dialog' ||
      role === 'alertdialog' ||
      role === 'menu' ||
      role === 'alert' ||
      row.el === revision.model.modal
    ) {
      for (let at = row.index; at <= row.last; at++) hold(all[at], urgent);
    } else if (row.states.includes('focused')) hold(row, urgent);
    else if (isActive(row) && measured < MEASURED) {
      measured += 1;
      const rect = box(row.el);
      if (rect.bottom > 0 && rect.top < height && rect.right > 0 && rect.left < width) hold(row, onScreen);
    }
  }
  return { urgent, onScreen };
}

// The most of `rows` that fits into `max` lines. Each container shows the start and the end of its lines; how many is
// found by halving, so that the outline keeps its shape and long lists lose their middle. `first` is kept whole where
// that is possible at all; the answer is null where it is not.
function thin(rows, first, max) {
  const lines = new Map();
  const among = new Set(rows);
  const place = new Map();
  for (const row of rows) {
    const key = among.has(row.parent) ? row.parent : null;
    let list = lines.get(key);
    if (!list) lines.set(key, (list = []));
    place.set(row, { at: list.length, list });
    list.push(row);
  }
  const pick = (share) => {
    const kept = new Set();
    const head = Math.ceil(share * HEAD_SHARE);
    const tail = share - head;
    for (const row of rows) {
      const { at, list } = place.get(row);
      const above = !among.has(row.parent) || kept.has(row.parent);
      if (first.has(row) || (above && (at < head || at >= list.length - tail))) kept.add(row);
    }
    return kept;
  };
  let low = 1;
  let high = max;
  let kept = pick(low);
  if (kept.size > max) return null;
  while (low < high) {
    const share = (low + high + 1) >> 1;
    const trial = pick(share);
    if (trial.size <= max) {
      low = share;
      kept = trial;
    } else high = share - 1;
  }
  return kept;
}

// Chooses at most `max` of `rows`; `cuts` counts what is missing by the row that would hold it.
function choose(rows, max) {
  if (rows.length <= max) return { chosen: rows, cuts: [] };
  const { urgent, onScreen } = pressing(rows);
  const both = new Set([...urgent, ...onScreen]);
  const kept =
    thin(rows, both, max) ||
    thin(
      rows.filter((row) => both.has(row)),
      urgent,
      max,
    ) ||
    new Set(rows.filter((row) => urgent.has(row)).slice(0, max));
  const cuts = new Map();
  for (const row of rows) {
    if (kept.has(row)) continue;
    let key = row.parent;
    while (key && !kept.has(key)) key = key.parent;
    cuts.set(key, (cuts.get(key) || 0) + 1);
  }
  return { chosen: rows.filter((row) => kept.has(row)), cuts: Array.from(cuts).sort((a, b) => b[1] - a[1]) };
}

// The depth of rows among themselves: containers that are not told do not indent.
function depthsOf(rows) {
  const depths = new Map();
  for (const row of rows) {
    let outer = row.parent;
    while (outer && !depths.has(outer)) outer = outer.parent;
    depths.set(row, outer ? depths.get(outer) + 1 : 0);
  }
  return depths;
}

const SPEAKING = new Set(['dialog', 'alertdialog', 'alert', 'status']);

const LAYER_ROLES = new Set(['dialog', 'alertdialog', 'menu', 'listbox', 'tooltip']);

// What lies on top comes first, with what it holds: the open modal dialog, then open popovers.
function topFirst(rows, depths) {
  const modal = rows.find((row) => row.el === revision.model.modal);
  const isTop = (row) =>
    row === modal ||
    (!row.inert &&
      LAYER_ROLES.has(row.role) &&
      (row.states.split(',').includes('modal') || M.matches(row.el, ':popover-open')));
  const front = [];
  const rest = [];
  let top = null;
  for (const row of rows) {
    if (top && row.index > top.last) top = null;
    if (!top && isTop(row)) top = row;
    if (!top) rest.push(row);
    else front.push({ row, from: top === modal ? 0 : 1, depth: depths.get(row) - depths.get(top) });
  }
  for (const { row, depth } of front) depths.set(row, depth);
  const of = (from) => front.filter((one) => one.from === from).map((one) => one.row);
  return [...of(0), ...of(1), ...rest];
}

function observe(args) {
  const options = {
    values: args.values !== false,
    boxes: args.boxes === true,
    urls: args.urls === true,
    places: args.places === true,
  };
  const maxRows = args.maxRows ?? 400;
  const maxText = args.maxText ?? 16384;
  const depth = args.depth ?? 50;
  const model = refresh();
  const leftOut = [];
  let rows = model.rows.filter((row) => !row.left);
  let text = model.text;
  const scope = args.scopeRef === undefined ? null : required({ ref: args.scopeRef, asOf: args.asOf }).el;
  if (scope) {
    rows = rows.filter((row) => inside(row.el, scope));
    text = visibleText(scope, MAX_TEXT);
  }
  if (args.interactive)
    rows = rows.filter(
      (row) =>
        isActive(row) ||
        row.role === 'dialog' ||
        row.role === 'alertdialog' ||
        row.role === 'frame' ||
        frameLabels.has(row.el),
    );
  // What changed after that count of this document: what can be acted on, and what speaks up by itself.
  if (args.since !== undefined)
    rows = rows.filter((row) => row.fact.changed > args.since && (isActive(row) || SPEAKING.has(row.role)));
  if (args.query) rows = rows.filter(queryTest(String(args.query), args.testId));
  const total = rows.length;
  // A search lists what it found in order; the worker counts off what was read before.
  if (args.query) rows = rows.slice(0, maxRows);
  if (args.offset > 0) rows = rows.slice(args.offset);
  const depths = depthsOf(rows);
  const deep = rows.filter((row) => depths.get(row) >= depth);
  if (deep.length > 0) {
    leftOut.push({ kind: 'depth', count: deep.length, hint: 'depth' });
    rows = rows.filter((row) => depths.get(row) < depth);
  }
  const { chosen, cuts } = choose(rows, maxRows);
  cuts.slice(0, 8).forEach(([row, count]) => {
    leftOut.push(
      row
        ? { ref: show(row.el, row.role, row.name), kind: 'rows', count, hint: 'scope' }
        : { kind: 'rows', count, hint: 'maxRows' },
    );
  });
  const more = cuts.slice(8).reduce((sum, [, count]) => sum + count, 0);
  if (more > 0) leftOut.push({ kind: 'rows', count: more, hint: 'maxRows' });
  if (model.tooDeep > 0) leftOut.push({ kind: 'depth', count: model.tooDeep, hint: 'nesting' });
  const textBytes = utf8Length(text);
  const told = cutBytes(withoutData(cutChars(text, maxText * 2)), maxText).toWellFormed();
  const left = textBytes - utf8Length(told);
  if (left > 0 && text.length > told.length) leftOut.push({ kind: 'text', count: left, hint: 'maxText' });
  return {
    url: cutChars(withoutData(model.url), 4096).toWellFormed(),
    title: shown(model.title),
    readyState: G.readyState(doc),
    contentType: cutChars(G.contentType(doc), NAME_CHARS),
    rootless: G.documentElement(doc) === null,
    rows: topFirst(chosen, depths).map((row) => rowAnswer(row, depths.get(row), options)),
    text: told,
    textBytes,
    rowsTotal: total,
    leftOut,
    ...placedFrames(scope),
    hasModal: model.modal !== null || model.rows.some((row) => row.states.includes('modal')),
    seq: revision.seq,
  };
}

const SEARCHED = ['placeholder', 'title', 'alt', 'id'];

function queryTest(query, testId = 'data-testid') {
  const test = matcher(query, 'substring');
  return (row) =>
    test(row.name) ||
    test(row.role) ||
    (row.fact.text !== undefined && test(row.fact.text)) ||
    [...SEARCHED, testId].some((name) => {
      const value = attribute(row.el, name);
      return value !== null && test(value);
    });
}

// Visible text of the document or of one element, bounded.
function readText(args) {
  const maxBytes = args.maxBytes ?? 65536;
  const model = refresh();
  const whole =
    args.scopeRef === undefined
      ? model.text
      : visibleText(required({ ref: args.scopeRef, asOf: args.asOf }).el, MAX_TEXT);
  const bytes = utf8Length(whole);
  const text = cutBytes(withoutData(cutChars(whole, maxBytes * 2)), maxBytes).toWellFormed();
  return { ...placedFrames(), text, bytes, left: Math.max(0, text.length < whole.length ? bytes - utf8Length(text) : 0) };
}
