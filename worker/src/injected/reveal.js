// What script alone cannot see: closed shadow roots. This part names the elements that may hold such a root and takes
// what the browser told the worker of them; nothing is hooked in the page.

const HOSTING = new Set(
  'article,aside,blockquote,body,div,footer,h1,h2,h3,h4,h5,h6,header,main,nav,p,section,span'.split(','),
);
// Empty elements without height, whose root may hold a layer that is placed elsewhere; few of them at a time.
const MAX_FLAT = 50;

// What a candidate looked like when the browser was asked about it. One that looks otherwise now may have a root now.
const examined = new WeakMap();
let offered = new Map();
// Text blocks whose words were seen painted. Nobody makes hosts of those later; they are most of a long page.
const worded = new WeakSet();
const WORD_TAGS = new Set(['blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p']);
let probeRange = null;

// Elements that have no root that script can see and look as if they had one, at most `limit`; null when there are
// none. With `done` those of the answer before count as examined.
function possibleHosts(args) {
  if (args.done === true) for (const [el, look] of offered) examined.set(el, look);
  offered = new Map();
  const limit = args.limit ?? 200;
  soil(observer.takeRecords());
  if (dirt.all || dirt.self.size > 0 || dirt.deep.size > 0) hosts.clear();
  const flat = [];
  for (const root of [doc, ...shadowRootsIn(doc, hosts)]) {
    for (const el of hosts.get(root)) {
      if (offered.size >= limit) break;
      const look = hostLook(el);
      if (look === '' || examined.get(el) === look) continue;
      if (look === 'flat') flat.push(el);
      else offered.set(el, look);
    }
  }
  for (const el of flat.slice(0, Math.min(MAX_FLAT, limit - offered.size))) offered.set(el, 'flat');
  return offered.size === 0 ? null : Array.from(offered.keys());
}

// What speaks for a closed root in the element; empty when nothing does.
function hostLook(el) {
  const name = G.localName(el);
  const custom = !HOSTING.has(name);
  if ((custom && !name.includes('-')) || worded.has(el) || shadowOf(el)) return '';
  if (custom) return (M.matches(el, ':defined') ? 'defined' : 'plain') + G.offsetHeight(el);
  if (G.firstChild(el)) return showsChild(el) || !rendered(el) ? '' : 'covered' + G.offsetHeight(el);
  const height = G.offsetHeight(el);
  if (height > 0) return 'tall' + height;
  return name === 'div' && rendered(el) ? 'flat' : '';
}

// Is any child painted where it stands? In a host only what a slot shows is.
function showsChild(el) {
  let word = null;
  for (let child = G.firstChild(el); child; child = G.nextSibling(child)) {
    const type = G.nodeType(child);
    if (type === ELEMENT) {
      if (rendered(child)) return true;
    } else if (type === TEXT && word === null && /\S/.test(cutChars(G.data(child), 256))) word = child;
  }
  if (word === null || !takesRoom(word)) return false;
  if (WORD_TAGS.has(G.localName(el))) worded.add(el);
  return true;
}

function takesRoom(textNode) {
  // One range for all: each one that lives makes every change of the page dearer.
  probeRange = probeRange || M.createRange(doc);
  probeRange.selectNodeContents(textNode);
  const rect = M.rangeBox(probeRange);
  probeRange.selectNodeContents(doc);
  probeRange.collapse(true);
  return rect.width > 0 || rect.height > 0;
}

// Closed roots that the browser found; from now on they are walked like open ones.
function takeClosedRoots(args, handles) {
  if (handles.length === 0 || !handles.every(isShadow)) throw new Failure('bad_argument', { detail: 'root' });
  quietly(() => {
    for (const root of handles) {
      closedRoots.set(G.host(root), root);
      observeRoot(root);
      dirt.deep.add(G.host(root));
    }
  });
  return { ok: true };
}

// Elements that may be clickable by a listener alone: small things on the screen without a role, outside controls and
// running text. Each is named once. A listener that comes later is not found; most pages show such things by their
// cursor anyway.
const listening = new WeakSet();
const asked = new WeakSet();
const PLAIN_TAGS = new Set('div,span,li,td,th,img,svg:svg,canvas,i,b,em,strong,small,figure,section,article'.split(','));
const MAX_INNER = 6;
const MAX_LOOKED = 4000;
const MAX_AREA = 250000;
// Generation of the model in which nothing was left to ask about.
let plainAt = 0;

function plainElements({ limit, peek = false }) {
  const model = refresh();
  if (plainAt === model.generation) return null;
  const found = [];
  const holders = new Set();
  for (const row of model.rows) {
    for (let node = row.kind === 'control' || row.kind === 'clickable' ? row.el : null; node; node = flatParent(node)) {
      if (holders.has(node)) break;
      holders.add(node);
    }
  }
  let looked = 0;
  for (const root of model.roots) {
    for (const el of M.queryAll(root, 'div,span,li,td,th,img,svg,canvas,i,b,em,strong,small,figure,section,article')) {
      if (found.length >= limit || looked >= MAX_LOOKED) break;
      if (asked.has(el) || holders.has(el)) continue;
      const fact = facts.get(el);
      if (!fact || fact.plain === false) continue;
      looked += 1;
      if (!isPlain(el, fact)) continue;
      if (!peek) asked.add(el);
      found.push(el);
    }
  }
  if (found.length > 0) return found;
  if (looked < MAX_LOOKED) plainAt = model.generation;
  return null;
}

// What cannot change without the element being learnt anew is kept in its facts.
function isPlain(el, fact) {
  fact.plain =
    !fact.pointer &&
    !fact.marked &&
    PLAIN_TAGS.has(fact.tag) &&
    (fact.kind === '' || fact.kind === 'named') &&
    M.queryAll(el, '*').length <= MAX_INNER &&
    !nearest(flatParent(el), (node) => isNestedControl(node) || facts.get(node)?.pointer);
  if (!fact.plain || !rendered(el)) return false;
  const rect = box(el);
  return rect.width >= 8 && rect.height >= 8 && rect.width * rect.height < MAX_AREA;
}

// Takes what the browser says of the listeners of such elements.
function takeListeners(args, handles) {
  quietly(() => {
    handles.forEach((el, at) => {
      if (!isElement(el) || args.told[at] !== true) return;
      listening.add(el);
      dirt.deep.add(el);
    });
  });
  return { ok: true };
}

// Custom elements with a role of their own making, or null when there are none.
function internalHosts() {
  const rows = refresh().rows.filter((row) => hasInternalRole(row.el, row.role));
  return rows.length === 0 ? null : rows.slice(0, MAX_INTERNAL).map((row) => row.el);
}

// Takes what the browser says of such elements. What is new of one that was told before is a change of the page.
function takeInternals(args, handles) {
  const first = [];
  const again = [];
  handles.forEach((el, at) => {
    const told = args.told[at];
    if (!isElement(el) || !told) return;
    const before = internals.get(el);
    if (before && JSON.stringify(before) === JSON.stringify(told)) return;
    (before ? again : first).push([el, told]);
  });
  const enter = ([el, told]) => {
    internals.set(el, told);
    dirt.names.add(el);
  };
  if (first.length > 0) quietly(() => first.forEach(enter));
  again.forEach(enter);
  return { ok: true };
}

// What the browser told changes what is known of the page, not the page: its revision stays.
function quietly(learnMore) {
  const counted = revision.model !== null;
  if (counted) refresh();
  learnMore();
  if (!counted) return;
  revision.quiet = true;
  try {
    refresh();
  } finally {
    revision.quiet = false;
  }
}
