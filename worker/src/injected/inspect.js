// One element in full: what `inspect` tells. Reads only.

const VALUE_CHARS = 2048;
const MAX_ATTRIBUTES = 64;
const MAX_RELATIONS = 24;
const MAX_CHOICES = 64;
const REFERRING = [
  'aria-labelledby',
  'aria-describedby',
  'aria-owns',
  'aria-controls',
  'aria-details',
  'aria-errormessage',
  'aria-flowto',
  'aria-activedescendant',
  'popovertarget',
  'commandfor',
  'list',
  'form',
  'for',
];

function inspect(args) {
  const { el } = required(args);
  const { tag, role, name } = identity(el);
  const rect = box(el);
  const hidden = hiddenReason(el);
  const secret = isProtected(el, tag);
  const { width, height } = viewport();
  const answer = {
    role,
    name: shown(name),
    tag,
    box: [rect.x, rect.y, rect.width, rect.height],
    inViewport: rect.bottom > 0 && rect.right > 0 && rect.top < height && rect.left < width,
    visible: hidden === null,
    enabled: isEnabled(el),
    editable: isEditable(el),
    focused: activeElement() === el,
    states: statesOf(el, tag, role),
    attributes: attributesOf(el, secret),
    relations: relationsOf(el, tag),
    removed: removedFrom(name),
    recomposed: name.normalize('NFC') !== name,
  };
  const why = hidden || (isInert(el) ? 'inert' : isAriaHidden(el) ? 'aria_hidden' : null);
  if (why) answer.reason = why;
  if (name.length > NAME_CHARS) answer.nameLength = name.length;
  if (role === 'heading' || role === 'treeitem') answer.level = levelOf(el, tag);
  if (secret) answer.protected = true;
  else {
    const value = valueOf(el, tag, role);
    if (value !== undefined) {
      answer.value = cutChars(withoutData(String(value)), VALUE_CHARS).toWellFormed();
      if (String(value).length > VALUE_CHARS) answer.valueLength = String(value).length;
    }
  }
  if (MESSAGE[tag] && M.matches(el, ':invalid') && !secret) answer.validation = shown(MESSAGE[tag](el));
  const options = choicesOf(el, tag, role);
  if (options.length > 0) {
    answer.optionsTotal = options.length;
    answer.options = options.slice(0, MAX_CHOICES).map(choice);
  }
  return answer;
}

// What comparisons of this text pass over: [{character: 'U+200B', count}].
function removedFrom(text) {
  const counts = new Map();
  for (const [found] of cutChars(text, COMPARE_CHARS).matchAll(UNSEEN)) {
    const character = 'U+' + found.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    counts.set(character, (counts.get(character) || 0) + 1);
  }
  return Array.from(counts, ([character, count]) => ({ character, count }));
}

function attributesOf(el, secret) {
  const names = M.getAttributeNames(el);
  return names.slice(0, MAX_ATTRIBUTES).map((name) => {
    const value = attribute(el, name) ?? '';
    const told = { name: cutChars(name, NAME_CHARS).toWellFormed() };
    // Handlers are script, and a secret stands nowhere.
    const untold = /^on/i.test(name) || name === 'nonce' || name === 'srcdoc' || (secret && name === 'value');
    if (!untold) told.value = shown(value);
    if ((untold && !secret) || value.length > NAME_CHARS) told.length = value.length;
    return told;
  });
}

function relationsOf(el, tag) {
  const found = [];
  const add = (by, other) => {
    if (found.length >= MAX_RELATIONS || !isElement(other) || other === el) return;
    found.push({ by, ...describe(other), visible: hiddenReason(other) === null });
  };
  for (const name of REFERRING) {
    const ids = attribute(el, name);
    if (!ids) continue;
    for (const id of collapse(cutChars(ids, 2048)).split(' ').slice(0, 16)) add(name, byId(el, id));
  }
  const labels = LABELS[tag]?.(el);
  if (labels) for (const labelEl of Array.from(labels).slice(0, 8)) add('label', labelEl);
  if (tag === 'label') add('control', G.control(el));
  if (tag === 'summary' || tag === 'details') {
    const holder = tag === 'details' ? el : G.parentNode(el);
    if (isElement(holder) && G.localName(holder) === 'details')
      eachChild(holder, (child) => {
        if (isElement(child) && tagOf(child) === 'slot') eachChild(child, (inner) => add('content', inner));
        else add('content', child);
      });
  }
  return found;
}

function choicesOf(el, tag, role) {
  if (tag === 'select') return Array.from(G.options(el));
  if (role !== 'listbox' && role !== 'combobox') return [];
  const lists = [el];
  for (const name of ['aria-controls', 'aria-owns', 'list']) {
    for (const id of collapse(cutChars(attribute(el, name) || '', 2048)).split(' ')) {
      const list = id === '' ? null : byId(el, id);
      if (list) lists.push(list);
    }
  }
  return unique(lists.flatMap((n) => Array.from(M.queryAll(n, 'option,[role=option]'))));
}

function choice(el) {
  const tag = tagOf(el);
  const text = tag === 'option' ? G.text(el) : innerTextOf(el);
  const told = { label: label(text) };
  const value = attribute(el, tag === 'option' ? 'value' : 'data-value');
  if (value !== null && value !== text) told.value = shown(value);
  if (tag === 'option' ? G.selected(el) : isTrue(el, 'aria-selected')) told.selected = true;
  if (!isEnabled(el)) told.disabled = true;
  return told;
}

// Role, name and place of an element, for a preflight.
function sight(args) {
  const { el, role, name } = required(args);
  return { role, label: label(name || '') || label(tagLabel(el)), rect: rectOf(el) };
}
