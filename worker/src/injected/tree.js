// The flat tree: children and parents as they are painted, through shadow roots and slots.

const isElement = (n) => n !== null && n !== undefined && G.nodeType(n) === ELEMENT;

// Local name of an HTML element; elements of other languages get a prefix, since `svg:a` has no HTML members.
function tagOf(el) {
  const name = G.localName(el);
  const space = G.namespaceURI(el);
  if (space === XHTML) return name;
  return (space === SVG ? 'svg:' : 'xml:') + name;
}

const attribute = (el, name) => M.getAttribute(el, name);
const isTrue = (el, name) => M.getAttribute(el, name) === 'true';

function flatParent(n) {
  const slot = G.nodeType(n) === ELEMENT ? G.slotOfElement(n) : G.nodeType(n) === TEXT ? G.slotOfText(n) : null;
  if (slot) return slot;
  const parent = G.parentNode(n);
  if (!parent) return null;
  const type = G.nodeType(parent);
  if (type === FRAGMENT) return isShadow(parent) ? G.host(parent) : null;
  return type === ELEMENT ? parent : null;
}

const isShadow = (n) => n instanceof ShadowRoot;

// Calls `each` for the flat tree's children of `el`, in order.
function eachChild(el, each) {
  const root = shadowOf(el);
  if (!root && G.localName(el) === 'slot' && G.namespaceURI(el) === XHTML) {
    const assigned = M.assignedNodes(el);
    if (assigned.length > 0) {
      for (const child of assigned) each(child);
      return;
    }
  }
  for (let child = G.firstChild(root || el); child; child = G.nextSibling(child)) each(child);
}

// Is `el` the same as `ancestor`, or inside it in the flat tree? A light child that no slot shows counts by its parent.
function inside(n, ancestor) {
  for (let node = n; node; node = flatParent(node) || null) if (node === ancestor) return true;
  return false;
}

// First of `el` and its flat ancestors that passes.
function nearest(el, test) {
  for (let node = el; node; node = flatParent(node)) if (test(node)) return node;
  return null;
}

// Elements that could hold a shadow root: the common tags that never do are left out.
const HOST_TAGS =
  ':not(a,button,input,label,li,ul,ol,tr,td,th,tbody,table,option,select,textarea,img,script,style,link,meta,br,path,g,svg,em,strong,b,i,code,pre)';

// Shadow roots of the document, nested ones too. `hosts` keeps the elements that were asked, for the next time.
function shadowRootsIn(n, hosts, found = []) {
  const asked = hosts.get(n) || Array.from(M.queryAll(n, HOST_TAGS));
  hosts.set(n, asked);
  for (const el of asked) {
    const root = shadowOf(el);
    if (root) {
      found.push(root);
      shadowRootsIn(root, hosts, found);
    }
  }
  return found;
}

// The focused element, through shadow roots; null when that is the body or nothing. A body that is itself an editor has
// the focus with its document.
function activeElement() {
  let active = G.documentActive(doc);
  while (active) {
    const root = shadowOf(active);
    const inner = root && G.shadowActive(root);
    if (!inner) break;
    active = inner;
  }
  if (!active || active === G.documentElement(doc)) return null;
  if (active !== G.body(doc)) return active;
  return G.isContentEditable(active) && M.hasFocus(doc) ? active : null;
}

// The node of the element's own tree that an `id` names there.
function byId(el, id) {
  const root = M.getRootNode(el);
  const type = G.nodeType(root);
  if (type !== DOCUMENT && type !== FRAGMENT) return null;
  return M.queryAll(root, '#' + CSS.escape(id))[0] || null;
}
