// The target's own row and its region, read anew: what a guarded press compares right before it is sent.

const REGION_ROLES = new Set([
  'dialog',
  'alertdialog',
  'form',
  'row',
  'listitem',
  'main',
  'navigation',
  'banner',
  'contentinfo',
  'complementary',
  'search',
  'region',
]);
const REGION_TAGS = new Set(['dialog', 'form', 'li', 'main', 'nav', 'header', 'footer', 'aside', 'search', 'section']);

// The nearest dialog, form, row or landmark. A table row counts even where Chromium takes the table for layout.
function regionOf(el) {
  const parent = flatParent(el);
  return (
    parent &&
    nearest(parent, (node) => {
      if (G.localName(node) === 'tr') return true;
      if (!REGION_TAGS.has(G.localName(node)) && !M.hasAttribute(node, 'role')) return false;
      return REGION_ROLES.has(roleOf(node));
    })
  );
}

function semanticRow(el) {
  const tag = tagOf(el);
  const role = rowRole(el, tag);
  const name = freshName(el, tag, role);
  const states = statesOf(el, tag, role);
  const secret = isProtected(el, tag);
  const value = valueOf(el, tag, role);
  const visible = hiddenReason(el) === null;
  const enabled = isEnabled(el);
  const inert = isInert(el);
  if (!enabled && !inert && !states.includes('disabled')) states.push('disabled');
  if (inert) states.push('inert');
  const focused = activeElement() === el;
  const row = {
    ref: refOf(el),
    role,
    name: shown(name),
    states: focused ? [...states, 'focused'] : states,
    visible,
    enabled,
    connected: G.isConnected(el),
    rowHash: digest(
      [role, comparable(name), states.join(','), secret ? digest(value || '') : value || '', visible, enabled].join(
        '\u0001',
      ),
    ),
    valueBearing: isValueBearing(tag, role),
    label: label(name || '') || label(tagLabel(el)),
  };
  if (!secret && value !== undefined && value !== '') row.value = shown(String(value));
  return row;
}

// Has the region of an element changed since the revision that its seq numbers? Not known without a seq.
function regionChanged(args) {
  const { el } = required(args);
  refresh();
  if (args.seq === undefined || args.seq > revision.seq) return { known: false, changed: true };
  const region = regionOf(el);
  const at = region ? Math.max(changes.at.get(region) || 0, changes.everywhere) : revision.seq;
  return { known: true, changed: at > args.seq };
}
