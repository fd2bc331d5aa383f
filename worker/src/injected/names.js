// Roles and accessible names. Chromium computes roles and names; what it leaves empty for hidden and
// inert elements, or has no ARIA word for, is filled in here.

const ROLE_OF_TAG = {
  summary: 'button',
  iframe: 'frame',
  frame: 'frame',
  fencedframe: 'frame',
  video: 'video',
  audio: 'audio',
  canvas: 'canvas',
  label: 'label',
  legend: 'legend',
  figcaption: 'caption',
  object: 'embed',
  embed: 'embed',
  dl: 'list',
};
const TYPED_WITHOUT_ROLE = new Set(['date', 'datetime-local', 'time', 'month', 'week', 'color']);
const ROLE_ALIASES = { image: 'img', presentation: 'none' };

const CONTROL_ROLES = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'combobox',
  'listbox',
  'checkbox',
  'radio',
  'switch',
  'slider',
  'spinbutton',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'tab',
  'treeitem',
  'option',
]);
const STRUCTURE_ROLES = new Set([
  'heading',
  'dialog',
  'alertdialog',
  'main',
  'navigation',
  'banner',
  'contentinfo',
  'complementary',
  'search',
  'menu',
  'menubar',
  'tablist',
  'toolbar',
  'tree',
  'frame',
  'alert',
  'status',
  'radiogroup',
  'progressbar',
  'meter',
]);
const NAMED_ROLES = new Set([
  'form',
  'region',
  'group',
  'figure',
  'img',
  'article',
  'tabpanel',
  'video',
  'audio',
  'canvas',
  'embed',
]);
const HOLDER_ROLES = new Set(['table', 'grid', 'treegrid', 'list', 'row', 'feed']);
const CONTENT_NAMED = new Set([
  'button',
  'link',
  'heading',
  'tab',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'treeitem',
  'switch',
  'checkbox',
  'radio',
  'row',
  'cell',
  'gridcell',
  'columnheader',
  'rowheader',
  'tooltip',
]);

// The getters exist only behind the launch flag; where somebody else started the browser, fallback.js takes their place.
const COMPUTED = Object.getOwnPropertyDescriptor(Element.prototype, 'computedRole') !== undefined;

const PLAIN_ROLE = {
  button: 'button',
  label: 'label',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
};

function roleOf(el, tag = tagOf(el)) {
  // The commonest elements have one role only, unless they are given another.
  const plain = PLAIN_ROLE[tag] || (tag === 'a' && M.hasAttribute(el, 'href') ? 'link' : undefined);
  if (plain && !M.hasAttribute(el, 'role')) return plain;
  const role = G.computedRole(el);
  if (role) return ROLE_ALIASES[role] || role;
  if (tag === 'input') {
    const type = G.type(el);
    if (TYPED_WITHOUT_ROLE.has(type)) return 'textbox';
  }
  if (tag === 'area') return M.hasAttribute(el, 'href') ? 'link' : 'generic';
  return ROLE_OF_TAG[tag] || 'generic';
}

// The accessible name; for elements that the accessibility tree leaves out, and for clickable things without a role,
// one made from attributes, labels and text.
function nameOf(el, tag, role, text, inTree) {
  if (role === 'generic' || role === 'label')
    return (
      attribute(el, 'aria-label') ||
      (tag.includes('-') && G.computedName(el)) ||
      (text === undefined ? innerTextOf(el) : text)
    );
  // Chromium calls a player what its own controls say at the moment.
  if (tag === 'video' || tag === 'audio') return plainName(el, tag, role, text);
  const name = G.computedName(el) || (fieldTag(tag) ? hostName(el) : '');
  if (name) return cutChars(name, COMPARE_CHARS);
  const told = tag !== 'area' && (inTree ?? hasTree(el));
  return told ? '' : plainName(el, tag, role, text);
}

const fieldTag = (tag) => tag === 'input' || tag === 'textarea';

// A field without a name of its own, to which a custom element forwards its focus, is what the host is called.
function hostName(el) {
  const root = M.getRootNode(el);
  if (!isShadow(root) || !G.delegatesFocus(root)) return '';
  const host = G.host(root);
  return fieldOf(host) === el ? G.computedName(host) : '';
}

// Does Chromium name this element? Not when it is not rendered, inert or hidden from assistive tools.
const hasTree = (el) => rendered(el) && !isInert(el) && !isAriaHidden(el);

function plainName(el, tag = tagOf(el), role = roleOf(el, tag), text) {
  const ids = attribute(el, 'aria-labelledby');
  if (ids) {
    const parts = collapse(ids)
      .split(' ')
      .slice(0, 16)
      .map((id) => byId(el, id))
      .filter(Boolean)
      .map(innerTextOf);
    if (parts.join('')) return parts.join(' ');
  }
  const given = attribute(el, 'aria-label');
  if (given) return cutChars(given, COMPARE_CHARS);
  const labels = LABELS[tag]?.(el);
  if (labels && labels.length > 0) {
    const joined = Array.from(labels).slice(0, 8).map(innerTextOf).join(' ');
    if (joined) return joined;
  }
  if (tag === 'input' && BUTTON_TYPES.has(G.type(el))) return VALUE.input(el) || attribute(el, 'alt') || '';
  const alt = attribute(el, 'alt');
  if (alt) return alt;
  if (CONTENT_NAMED.has(role)) {
    const own = text || innerTextOf(el);
    if (own) return own;
  }
  return attribute(el, 'title') || attribute(el, 'placeholder') || '';
}

// Visible text where the element is rendered, all text where it is not.
function innerTextOf(el) {
  if (rendered(el) || isContents(el)) {
    const text = visibleText(el, COMPARE_CHARS);
    if (text) return collapse(text);
  }
  return collapse(cutChars(G.textContent(el) || '', COMPARE_CHARS));
}

// How an element without a name is told to a person: its tag and id or first class.
function tagLabel(el) {
  const id = attribute(el, 'id');
  if (id) return tagOf(el) + '#' + cutChars(id, 64);
  const first = collapse(cutChars(attribute(el, 'class') || '', 128)).split(' ')[0];
  return tagOf(el) + (first ? '.' + first : '');
}
