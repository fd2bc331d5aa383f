// What can be seen: rendering, painted area, collapsed containers.

const CHECK = { visibilityProperty: true };
const rendered = (el) => M.checkVisibility(el, CHECK);
const box = (el) => M.getBoundingClientRect(el);

const isContents = (el) => styleOf(el).display === 'contents';

// Tags whose content is not part of the page as read: no rows, no text.
const OPAQUE = new Set([
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
  'iframe',
  'frame',
  'object',
  'embed',
  'video',
  'audio',
  'canvas',
  'textarea',
  'input',
  'progress',
  'meter',
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

const clipsOverflow = (style) => style.overflowX !== 'visible' || style.overflowY !== 'visible';

// A container that hides all it holds: its overflow is cut and nothing is left of its area (entry: an accordion of
// height 0 still passes checkVisibility).
const isCollapsed = (el) => G.clientWidth(el) === 0 || G.clientHeight(el) === 0;

const isRoot = (el) => el === G.documentElement(doc) || el === G.body(doc);

// Does the element paint anything of its own? A zero-sized link with an absolutely placed picture does, by the picture.
function painted(el) {
  const own = box(el);
  if (own.width > 0 && own.height > 0) return true;
  const tag = tagOf(el);
  if (tag.startsWith('svg:') && (own.width > 0 || own.height > 0)) return true;
  if (OPAQUE.has(tag)) return false;
  let budget = 64;
  const anyChild = (node) => {
    let found = false;
    eachChild(node, (child) => {
      if (found || budget-- <= 0) return;
      const type = G.nodeType(child);
      if (type === TEXT) {
        found = /\S/.test(cutChars(G.data(child), 256)) && textBox(child).width > 0;
      } else if (type === ELEMENT) {
        if (rendered(child)) {
          const rect = box(child);
          found = (rect.width > 0 && rect.height > 0) || (!clipsOverflow(styleOf(child)) && anyChild(child));
        } else if (isContents(child)) found = anyChild(child);
      }
    });
    return found;
  };
  return !clipsOverflow(styleOf(el)) && anyChild(el);
}

function textBox(textNode) {
  const range = M.createRange(doc);
  range.selectNodeContents(textNode);
  return M.rangeBox(range);
}

// Is the element cut away by a collapsed ancestor? Fixed elements escape, absolute ones up to their containing block.
function cutAway(el) {
  let position = styleOf(el).position;
  for (let node = flatParent(el); node && !isRoot(node); node = flatParent(node)) {
    if (position === 'fixed') return false;
    const style = styleOf(node);
    const escapes = position === 'absolute' && style.position === 'static';
    if (!escapes) {
      if (clipsOverflow(style) && style.display !== 'inline' && style.display !== 'contents' && isCollapsed(node))
        return true;
      position = style.position;
    }
  }
  return false;
}

// Connected, rendered, painted and not cut away. Says nothing of overlays or of the viewport.
function isVisible(el) {
  if (!G.isConnected(el)) return false;
  if (G.localName(el) === 'area') {
    const picture = pictureOf(el);
    return picture !== null && isVisible(picture);
  }
  if (!rendered(el)) {
    if (!isContents(el)) return false;
    const parent = flatParent(el);
    if (parent && !rendered(parent) && !isContents(parent)) return false;
  }
  return painted(el) && !cutAway(el);
}

// Labels of a control that can be seen: they stand for a native control that is hidden itself.
function visibleLabels(el) {
  const labels = LABELS[tagOf(el)]?.(el);
  if (!labels) return [];
  return Array.from(labels).filter(isVisible);
}

// Why an element that is attached cannot be seen, or null when it can.
function hiddenReason(el) {
  if (!G.isConnected(el)) return 'detached';
  if (isVisible(el)) return null;
  return visibleLabels(el).length > 0 ? null : 'not_visible';
}

// The modal dialog that is open, the innermost of several; everything outside is inert.
function modalDialog() {
  let open = null;
  for (const el of dialogs) if (M.matches(el, ':modal')) open = el;
  return open;
}

// A live collection: asking it again costs nothing while the tree stands still.
const dialogs = M.getElementsByTagName(doc, 'dialog');

// A test for being inert, by attribute or outside an open modal dialog; made once for many elements.
function inertTest() {
  const open = modalDialog() !== null;
  return (el) => {
    if (nearest(el, (node) => M.hasAttribute(node, 'inert'))) return true;
    return open && !nearest(el, (node) => M.matches(node, 'dialog:modal'));
  };
}

const isInert = (el) => inertTest()(el);

const isAriaHidden = (el) => Boolean(nearest(el, (node) => isTrue(node, 'aria-hidden')));

// Enabled for a person: no disabled of its own, of its fieldset, by ARIA or by being inert.
function isEnabled(el) {
  if (M.matches(el, ':disabled')) return false;
  if (nearest(el, (node) => isTrue(node, 'aria-disabled'))) return false;
  return !isInert(el);
}
