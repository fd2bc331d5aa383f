// Typing at the caret: where it is, what the field should hold afterwards, and whether it does. Values stay here.

const typedInto = new WeakMap();

const isFocused = (field) => {
  const active = activeElement();
  return active !== null && (active === field || inside(active, field));
};

function caretToEnd(field) {
  const tag = tagOf(field);
  if (tag === 'input' || tag === 'textarea') {
    // Numbers and addresses have no caret that can be asked for or set.
    if (SELECTION[tag].start(field) === null) return;
    const end = VALUE[tag](field).length;
    SELECTION[tag].set(field, end, end);
    return;
  }
  const selection = M.getSelection(doc);
  selection.selectAllChildren(field);
  selection.collapseToEnd();
}

// The field's content before and behind what the next text replaces; null where that cannot be told.
function partsAtCaret(field) {
  const tag = tagOf(field);
  if (tag === 'input' || tag === 'textarea') {
    const value = VALUE[tag](field);
    const start = SELECTION[tag].start(field);
    if (start === null) return value === '' ? ['', ''] : null;
    return [value.slice(0, start), value.slice(SELECTION[tag].end(field))];
  }
  const selection = M.getSelection(doc);
  if (selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!inside(range.startContainer, field) || !inside(range.endContainer, field)) return null;
  const part = (from, to) => {
    const piece = M.createRange(doc);
    piece.selectNodeContents(field);
    if (from) piece.setStart(from[0], from[1]);
    if (to) piece.setEnd(to[0], to[1]);
    return String(piece);
  };
  return [
    part(null, [range.startContainer, range.startOffset]),
    part([range.endContainer, range.endOffset], null),
  ];
}

// The field that has the focus, or the given one once it has it. → {frame} where the focus is in a frame below. What a
// secret goes into is protected before it does.
function caret(args) {
  const given = args.ref !== undefined;
  const el = given ? required(args).el : activeElement();
  if (!el) return { none: true };
  const name = given ? undefined : frameLabels.get(el);
  if (name !== undefined) return { frame: name };
  const field = fieldOf(el) || el;
  if (args.secret) secretFields.add(field);
  if (given && !isFocused(field)) {
    if (args.focus === false) return { ...fieldAnswer(field), editable: isEditable(field) };
    focusOn(args);
    caretToEnd(field);
  }
  typedInto.set(field, { before: currentValue(field), parts: partsAtCaret(field) });
  return { ...fieldAnswer(field), editable: isEditable(field), ref: refOf(el) };
}

const dense = (text) => text.replace(/[\s\u00a0\u200b\ufeff]+/g, '');

// Is `now` what was there with the text put in somewhere?
function insertedAnywhere(now, before, text) {
  if (now.length !== before.length + text.length) return false;
  for (let at = now.indexOf(text); at >= 0; at = now.indexOf(text, at + 1))
    if (now.slice(0, at) + now.slice(at + text.length) === before) return true;
  return false;
}

// After typing: does the field hold what it should?
function compareTyped(args) {
  const { el } = required(args);
  const field = fieldOf(el) || el;
  const was = typedInto.get(field);
  if (!was) throw new Failure('bad_argument', { detail: 'caret' });
  const now = currentValue(field);
  const text = lines(String(args.text));
  const editor = fieldKind(field) === 'contenteditable';
  const expected = was.parts ? lines(was.parts[0]) + text + lines(was.parts[1]) : null;
  let matches;
  if (expected === null) matches = editor ? dense(now).includes(dense(text)) : insertedAnywhere(now, was.before, text);
  else matches = editor ? dense(now) === dense(expected) : now === expected;
  const answer = { matches, unchanged: now === was.before, focused: isFocused(field) };
  if (!matches) answer.kind = differenceOf(now, expected ?? was.before + text, was.before);
  return answer;
}

// Selects a part of a field or of an element's text, by UTF-16 offsets or by one occurrence of a text.
function selectPart(args) {
  const { el } = required(args);
  const field = fieldOf(el);
  const tag = field ? tagOf(field) : '';
  if (tag === 'input' || tag === 'textarea') {
    const value = VALUE[tag](field);
    const found = partOf(value, args);
    if (found.fault) return found;
    const blind = SELECTION[tag].start(field) === null;
    if (blind && (found.start !== 0 || found.end !== value.length)) return { fault: 'no_offsets' };
    if (args.trial) return {};
    focusOn(args);
    if (blind) {
      M.selectInput(field);
      return { length: found.end, selected: found.end, focused: isFocused(field) };
    }
    SELECTION[tag].set(field, found.start, found.end);
    const selected = SELECTION[tag].end(field) - SELECTION[tag].start(field);
    return { length: found.end - found.start, selected, focused: isFocused(field) };
  }
  const holder = field || el;
  const pieces = textPieces(holder);
  const found = partOf(pieces.map((piece) => piece.text).join(''), args);
  if (found.fault || args.trial) return found.fault ? found : {};
  if (field) focusOn(args);
  const [startNode, startAt] = pieceAt(pieces, found.start, false);
  const [endNode, endAt] = pieceAt(pieces, found.end, true);
  const selection = M.getSelection(doc);
  if (startNode) selection.setBaseAndExtent(startNode, startAt, endNode, endAt);
  return { length: found.end - found.start, selected: String(selection).length, focused: field ? isFocused(field) : null };
}

function partOf(text, args) {
  if (args.text === undefined) {
    const start = args.start ?? 0;
    const end = args.end ?? text.length;
    return start > end || end > text.length ? { fault: 'out_of_range', total: text.length } : { start, end };
  }
  let at = -1;
  let count = 0;
  for (let from = text.indexOf(args.text); from >= 0; from = text.indexOf(args.text, from + 1)) {
    count += 1;
    if (count === (args.occurrence ?? 1)) at = from;
  }
  if (at < 0) return { fault: count === 0 ? 'not_there' : 'fewer', total: count };
  if (args.occurrence === undefined && count > 1) return { fault: 'several', total: count };
  return { start: at, end: at + args.text.length };
}

// Text nodes of an element in order, with their text.
function textPieces(el) {
  const pieces = [];
  const collect = (n) =>
    eachChild(n, (child) => {
      if (G.nodeType(child) === TEXT) pieces.push({ n: child, text: G.data(child) });
      else if (isElement(child)) collect(child);
    });
  collect(el);
  return pieces;
}

function pieceAt(pieces, offset, ends) {
  let left = offset;
  for (const piece of pieces) {
    if (left < piece.text.length || (ends && left === piece.text.length)) return [piece.n, left];
    left -= piece.text.length;
  }
  const last = pieces[pieces.length - 1];
  return last ? [last.n, last.text.length] : [null, 0];
}
