// What is known of single elements without regard to their place: tag, role, kind, the styles that matter. Kept until
// the revision marks it: `stale` the element itself, `deep` all below it too.

const facts = new WeakMap();

const CANDIDATE_TAGS = new Set([
  'a',
  'area',
  'button',
  'input',
  'textarea',
  'select',
  'option',
  'summary',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'main',
  'nav',
  'header',
  'footer',
  'aside',
  'section',
  'search',
  'form',
  'fieldset',
  'figure',
  'article',
  'table',
  'ul',
  'ol',
  'tr',
  'dialog',
  'img',
  'svg:svg',
  'svg:a',
  'iframe',
  'frame',
  'fencedframe',
  'video',
  'audio',
  'canvas',
  'label',
  'progress',
  'meter',
  'output',
  'object',
  'embed',
]);
const NEVER = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'head',
  'title',
  'meta',
  'link',
  'base',
  'datalist',
  'svg:title',
  'svg:desc',
  'svg:defs',
  'svg:metadata',
  'svg:symbol',
  'svg:style',
  'svg:script',
  'noframes',
  'param',
  'source',
  'track',
]);

// The role of a row: as computed, except that an editing host without one is a text box.
function rowRole(el, tag) {
  const role = roleOf(el, tag);
  return role === 'generic' && isEditingHost(el) ? 'textbox' : role;
}

function isEditingHost(el) {
  if (el === G.body(doc) && G.designMode(doc) === 'on') return true;
  const given = attribute(el, 'contenteditable');
  return given !== null && given !== 'false' && given !== 'inherit';
}

function kindOf(role) {
  if (CONTROL_ROLES.has(role)) return 'control';
  if (STRUCTURE_ROLES.has(role)) return 'structure';
  if (HOLDER_ROLES.has(role)) return 'holder';
  return NAMED_ROLES.has(role) ? 'named' : '';
}

// Own facts of an element that do not depend on its place.
function learn(el, fact) {
  const tag = fact.tag;
  const style = styleOf(el);
  const display = style.display;
  fact.cell =
    display === 'inline-block' || display === 'inline-flex' || display === 'inline-grid' || display === 'table-cell';
  fact.block = !fact.cell && !display.startsWith('inline') && display !== 'contents' && !display.startsWith('ruby');
  fact.pointer = style.cursor === 'pointer';
  fact.position = style.position;
  fact.clips =
    !OPAQUE.has(tag) &&
    tag !== 'select' &&
    style.overflowX !== 'visible' &&
    display !== 'inline' &&
    display !== 'contents' &&
    !isRoot(el);
  fact.textual = undefined;
  fact.plain = undefined;
  fact.ariaHidden = fact.inert = fact.ariaDisabled = fact.marked = fact.external = false;
  let candidate = CANDIDATE_TAGS.has(tag) || tag.includes('-');
  if (M.hasAttributes(el)) {
    fact.ariaHidden = isTrue(el, 'aria-hidden');
    fact.inert = M.hasAttribute(el, 'inert');
    fact.ariaDisabled = isTrue(el, 'aria-disabled');
    const tabindex = attribute(el, 'tabindex');
    fact.marked = (tabindex !== null && Number.parseInt(tabindex, 10) >= 0) || M.hasAttribute(el, 'onclick');
    candidate = candidate || fact.marked || M.hasAttribute(el, 'role') || isEditingHost(el);
    fact.external = noteReferences(el);
  }
  if (listening.has(el)) fact.marked = candidate = true;
  candidate = candidate || (tag === 'body' && isEditingHost(el));
  fact.role = candidate ? rowRole(el, tag) : '';
  fact.kind = candidate ? kindOf(fact.role) : '';
  fact.external = fact.external || LABELS[tag] !== undefined;
}

// Ids that name other elements: what happens inside those elements changes names elsewhere.
const referenced = new Set();

function noteReferences(el) {
  let external = false;
  for (const name of ['aria-labelledby', 'aria-owns']) {
    const ids = attribute(el, name);
    if (ids === null) continue;
    external = true;
    for (const id of collapse(cutChars(ids, 2048)).split(' ')) referenced.add(id);
  }
  return external;
}

function factOf(el) {
  let fact = facts.get(el);
  if (fact === undefined) {
    fact = {
      tag: tagOf(el),
      stale: true,
      deep: false,
      nameStale: true,
      name: undefined,
      text: undefined,
      painted: false,
      generation: 0,
      changed: 0,
      sig: '',
      row: null,
    };
    facts.set(el, fact);
  }
  return fact;
}
