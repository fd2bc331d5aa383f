// Editing: focus, selection, native values, and the comparison after a fill. Values stay here; answers tell only
// whether they match.

const NATIVE_TYPES = new Set(['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range']);
const remembered = new WeakMap();

function fieldKind(field) {
  const tag = tagOf(field);
  if (tag === 'input') {
    const type = G.type(field);
    if (NATIVE_TYPES.has(type)) return 'native';
    return TEXT_TYPES.has(type) ? 'input' : type;
  }
  if (tag === 'textarea' || tag === 'select') return tag;
  return G.isContentEditable(field) ? 'contenteditable' : 'other';
}

function focusOn(args) {
  const { el } = required(args);
  const field = fieldOf(el) || el;
  if (field instanceof SVGElement) M.focusSvg(field, { preventScroll: true });
  else M.focusHtml(field, { preventScroll: true });
  return { ok: true, ...fieldAnswer(field) };
}

function fieldAnswer(field) {
  const tag = tagOf(field);
  const kind = fieldKind(field);
  const most = MAX_LENGTH[tag] ? MAX_LENGTH[tag](field) : -1;
  const active = activeElement();
  const multiline =
    kind === 'textarea' || (kind === 'contenteditable' && attribute(field, 'aria-multiline') !== 'false');
  return {
    focused: active === field || (active !== null && inside(active, field)),
    kind,
    multiline,
    maxLength: most >= 0 ? most : null,
    collapses: kind === 'contenteditable' && styleOf(field).whiteSpaceCollapse === 'collapse',
    type: tag === 'input' ? G.type(field) : tag,
  };
}

function selectAll(args) {
  const { el } = required(args);
  const field = fieldOf(el) || el;
  const kind = fieldKind(field);
  const tag = tagOf(field);
  let ok = true;
  if (tag === 'input' && kind === 'input') M.selectInput(field);
  else if (tag === 'textarea') M.selectArea(field);
  else if (kind === 'contenteditable') {
    const selection = M.getSelection(doc);
    selection.selectAllChildren(field);
  } else ok = false;
  return { ok, ...fieldAnswer(field) };
}

// For controls that trusted input cannot fill (contract 5.2): the native setter, then the events that a person's
// choice would cause.
function setNative(args) {
  const { el } = required(args);
  const field = fieldOf(el) || el;
  if (fieldKind(field) !== 'native') throw new Failure('not_native', { detail: fieldKind(field) });
  const text = String(args.text);
  const before = VALUE.input(field);
  S.input(field, text);
  const now = VALUE.input(field);
  // What it does not take it turns into nothing, or into something within its bounds: then it keeps what it had.
  if (!sameNative(now, text)) {
    S.input(field, before);
    throw new Failure('not_native', { detail: 'value' });
  }
  M.dispatchEvent(field, new Event('input', { bubbles: true, composed: true }));
  M.dispatchEvent(field, new Event('change', { bubbles: true }));
  return { ok: true };
}

// Colours are kept in lower case, numbers and times without what says nothing.
function sameNative(now, text) {
  if (now === text || now === text.trim().toLowerCase()) return true;
  const plain = (value) => value.replace(' ', 'T').replace(/(:\d\d)(:00(\.0+)?)$/, '$1');
  if (plain(now) === plain(text)) return true;
  return now !== '' && text.trim() !== '' && Number(now) === Number(text);
}

const lines = (text) => text.replace(/\r\n?/g, '\n');

function currentValue(field) {
  const tag = tagOf(field);
  if (VALUE[tag]) return lines(String(VALUE[tag](field)));
  return lines(G.innerText(field) ?? G.textContent(field) ?? '');
}

// Editors put no-break spaces for spaces, an extra line end at the end, and a blank line between paragraphs.
const loose = (text) =>
  text
    .replace(/[\u00a0\u200b\ufeff]/g, (unit) => (unit === '\u00a0' ? ' ' : ''))
    .replace(/\n+/g, '\n')
    .replace(/^\n+|\n+$/g, '');

const bare = (text) =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

function remember(args) {
  const { el } = required(args);
  const field = fieldOf(el) || el;
  remembered.set(field, currentValue(field));
  return { ok: true };
}

function compareValue(args) {
  const { el } = required(args);
  const field = fieldOf(el) || el;
  const tag = tagOf(field);
  const kind = fieldKind(field);
  const now = currentValue(field);
  let expected = lines(String(args.expected));
  if (kind === 'input') expected = expected.replace(/\n/g, '');
  const matches =
    kind === 'contenteditable'
      ? loose(now) === loose(expected)
      : now === expected || (kind === 'native' && sameNative(now, expected));
  const before = remembered.get(field);
  const answer = {
    matches,
    unchanged: before !== undefined && before === now,
    length: now.length,
    protected: isProtected(field, tag),
  };
  if (!matches) answer.kind = differenceOf(now, expected, before);
  return answer;
}

function differenceOf(now, expected, before) {
  if (before !== undefined && now === before && now !== '') return 'reverted';
  if (loose(now) === '') return 'empty';
  if (expected.startsWith(now)) return 'truncated';
  const [held, wanted] = [bare(now), bare(expected)];
  // A mask may put a country code before a number.
  const prefixed = wanted !== '' && /^\d+$/.test(held) && held.endsWith(wanted);
  return held === wanted || prefixed ? 'reformatted' : 'other';
}
