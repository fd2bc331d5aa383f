// The text= locator: the smallest visible elements whose whole visible text matches, lifted to the control they fill.

const MAX_NESTING = 900;

function byText(locator, scope) {
  const test = matcher(locator.value, locator.match);
  const exact = locator.match !== 'substring';
  const wanted = comparable(String(locator.value));
  if (wanted === '') return [];
  const found = [];
  // Longer texts cannot be equal; they are not carried upwards.
  const most = exact ? wanted.length * 3 + 64 : Infinity;

  // → the element's text, or null where it is too long to match anything above.
  const read = (el, level) => {
    const tag = tagOf(el);
    if (NEVER.has(tag)) return '';
    if (tag === 'input') {
      const value = buttonText(el);
      if (value !== '' && test(value)) found.push(el);
      return value;
    }
    if (OPAQUE.has(tag) || tag === 'select' || level > MAX_NESTING) return '';
    let unseen = false;
    if (!rendered(el)) {
      const style = styleOf(el);
      if (style.visibility !== 'visible' && style.display !== 'none') unseen = true;
      else if (style.display !== 'contents') return '';
    }
    const before = found.length;
    let text = '';
    const root = shadowOf(el);
    const assigned = !root && tag === 'slot' ? M.assignedNodes(el) : [];
    const next = (child) => {
      const type = G.nodeType(child);
      if (type === TEXT) {
        if (!unseen && text !== null) text += G.data(child);
      } else if (type === ELEMENT) {
        const inner = read(child, level + 1);
        if (inner === null) text = null;
        else if (text !== null) text += isBlockish(child) ? ' ' + inner + ' ' : inner;
      }
      if (text !== null && text.length > most && collapse(text).length > most) text = null;
    };
    if (assigned.length > 0) for (const child of assigned) next(child);
    else for (let child = G.firstChild(root || el); child; child = G.nextSibling(child)) next(child);
    if (text === null || text === '') return text;
    if (found.length === before && test(text) && /\S/.test(text) && isVisible(el)) found.push(el);
    return text;
  };

  const start = scope || G.documentElement(doc);
  if (start) read(start, 0);
  return found.filter((el) => el !== scope).map((el) => lifted(el, test));
}

function buttonText(el) {
  if (!BUTTON_TYPES.has(G.type(el)) || !isVisible(el)) return '';
  return VALUE.input(el);
}

function isBlockish(el) {
  const fact = facts.get(el);
  return fact ? fact.block || fact.cell : false;
}

// A control whose whole text this is stands for the span inside it.
function lifted(el, test) {
  let best = el;
  for (let node = flatParent(el); node && test(innerTextOf(node)); node = flatParent(node)) {
    if (CONTROL_ROLES.has(rowRole(node, tagOf(node)))) best = node;
  }
  return best;
}
