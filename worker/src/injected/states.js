// States and values of elements, and which values may never be told.

const VALUE_ROLES = new Set([
  'textbox',
  'searchbox',
  'combobox',
  'listbox',
  'checkbox',
  'radio',
  'switch',
  'slider',
  'spinbutton',
  'progressbar',
  'meter',
]);
const TEXT_TYPES = new Set(['text', 'email', 'search', 'tel', 'url', 'password', 'number']);
const BUTTON_TYPES = new Set(['submit', 'button', 'reset', 'image']);

const secretFields = new WeakSet();

// Passwords and one-time codes: their content appears in no reading.
function isProtected(el, tag) {
  if (tag !== 'input' && tag !== 'textarea') return false;
  // A page that shows the password makes the field another type; it stays what it was.
  if (tag === 'input' && G.type(el) === 'password') secretFields.add(el);
  if (secretFields.has(el)) return true;
  const autocomplete = attribute(el, 'autocomplete');
  return autocomplete !== null && /\b(one-time-code|current-password|new-password)\b/i.test(autocomplete);
}

const isValueBearing = (tag, role) =>
  VALUE_ROLES.has(role) || tag === 'select' || tag === 'textarea' || (tag === 'input' && role !== 'button');

// May the name change while the control stays the one that was seen? Where the value is part of it, or labels float;
// not for check boxes and the like, which are nothing but their name.
const isSameByValue = (el, tag, role) =>
  (isValueBearing(tag, role) && !CHECKABLE.has(role)) || (tag === 'input' && G.type(el) === 'file');

// The value as text, or undefined for elements that have none. The caller keeps protected ones out.
function valueOf(el, tag, role) {
  if (tag === 'input') {
    const type = G.type(el);
    if (type === 'checkbox' || type === 'radio' || BUTTON_TYPES.has(type) || type === 'hidden') return undefined;
    if (type === 'file')
      return Array.from(G.files(el) || [])
        .slice(0, 8)
        .map((file) => file.name)
        .join(', ');
    return VALUE.input(el);
  }
  if (tag === 'textarea' || tag === 'progress' || tag === 'meter') return String(VALUE[tag](el));
  if (tag === 'select') {
    const chosen = Array.from(M.queryAll(el, 'option:checked')).slice(0, 8);
    return chosen.map((option) => collapse(cutChars(G.text(option), NAME_CHARS))).join(', ');
  }
  if (tag === 'output') return undefined;
  const told = internals.get(el)?.value;
  if (told !== undefined) return told;
  if (
    role === 'slider' ||
    role === 'spinbutton' ||
    role === 'progressbar' ||
    role === 'meter' ||
    role === 'scrollbar'
  ) {
    return attribute(el, 'aria-valuetext') || attribute(el, 'aria-valuenow') || undefined;
  }
  if (role === 'textbox' || role === 'searchbox' || role === 'combobox') {
    return G.isContentEditable(el) ? cutChars(G.innerText(el) || '', COMPARE_CHARS * 8) : undefined;
  }
  return undefined;
}

const CHECKABLE = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
const SELECTABLE = new Set(['option', 'tab', 'row', 'gridcell', 'treeitem', 'columnheader', 'rowheader']);

// What the browser said of the states, level and value of custom elements: their internals, which script cannot read,
// and attributes together.
const internals = new WeakMap();
const INTERNAL_ROLES = new Set([
  ...['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'button', 'link', 'combobox', 'listbox'],
  ...['option', 'tab', 'treeitem', 'row', 'gridcell', 'textbox', 'searchbox', 'slider', 'spinbutton', 'progressbar'],
  ...['meter', 'scrollbar', 'heading', 'menuitem', 'dialog', 'alertdialog'],
]);
const MAX_INTERNAL = 64;

// Does the element have a role that no attribute gave it? Then its states may be its internals' too.
const hasInternalRole = (el, role) =>
  G.localName(el).includes('-') && !M.hasAttribute(el, 'role') && INTERNAL_ROLES.has(role);

// The states of an element by itself; `disabled` of an ancestor, `inert` and `focused` are the walk's.
function statesOf(el, tag, role) {
  const told = internals.get(el);
  const own = ownStates(el, tag, role);
  return told ? [...told.states, ...own.filter((state) => state === 'current')] : own;
}

function ownStates(el, tag, role) {
  const states = [];
  const aria = (name) => M.getAttribute(el, name);
  if (M.matches(el, ':disabled') || aria('aria-disabled') === 'true') states.push('disabled');
  if (CHECKABLE.has(role)) {
    const type = tag === 'input' ? G.type(el) : '';
    if (type === 'checkbox' || type === 'radio') {
      states.push(G.indeterminate(el) ? 'mixed' : G.checked(el) ? 'checked' : 'unchecked');
    } else {
      const checked = aria('aria-checked');
      states.push(checked === 'mixed' ? 'mixed' : checked === 'true' ? 'checked' : 'unchecked');
    }
  }
  const expanded = aria('aria-expanded');
  if (expanded === 'true' || expanded === 'false') states.push(expanded === 'true' ? 'expanded' : 'collapsed');
  else if (tag === 'summary') {
    const owner = G.parentNode(el);
    if (isElement(owner) && G.localName(owner) === 'details')
      states.push(M.hasAttribute(owner, 'open') ? 'expanded' : 'collapsed');
  }
  if (M.matches(el, ':required') || aria('aria-required') === 'true') states.push('required');
  if (
    aria('aria-readonly') === 'true' ||
    (TYPED.has(role) && M.matches(el, 'input:read-only,textarea:read-only') && M.hasAttribute(el, 'readonly'))
  )
    states.push('readonly');
  if (SELECTABLE.has(role) && (tag === 'option' ? G.selected(el) : aria('aria-selected') === 'true'))
    states.push('selected');
  const pressed = aria('aria-pressed');
  if (pressed === 'true' || pressed === 'mixed') states.push(pressed === 'true' ? 'pressed' : 'mixed');
  if (role === 'dialog' || role === 'alertdialog') {
    if (M.matches(el, ':modal') || aria('aria-modal') === 'true') states.push('modal');
  }
  const invalid = aria('aria-invalid');
  if ((invalid && invalid !== 'false') || M.matches(el, ':user-invalid')) states.push('invalid');
  if (aria('aria-busy') === 'true') states.push('busy');
  const current = aria('aria-current');
  if (current && current !== 'false') states.push('current');
  if (isProtected(el, tag)) states.push('protected');
  return states;
}
const TYPED = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);

function levelOf(el, tag) {
  const told = internals.get(el)?.level;
  if (told > 0) return told;
  const given = Number.parseInt(attribute(el, 'aria-level') || '', 10);
  if (given > 0) return given;
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 2;
}
