// Scrolling by the wheel: which panes lie under a point, which others could scroll, and what moved.

const watchedPanes = new Map();
const MAX_PANES = 16;
const MAX_SEARCHED = 20000;

const scrollsBy = (overflow) => overflow === 'auto' || overflow === 'scroll' || overflow === 'overlay';

// The document itself scrolls unless its root, or its body in the root's place, forbids that.
function documentScrolls(axis) {
  const root = G.documentElement(doc);
  if (!root) return false;
  const own = styleOf(root)[axis];
  const body = G.body(doc);
  const used = own === 'visible' && body ? styleOf(body)[axis] : own;
  return used !== 'hidden' && used !== 'clip';
}

const isDocumentPane = (el) => el === G.scrollingElement(doc);

// Where a pane stands and how far it goes, per axis.
function paneState(el) {
  const end = [Math.max(0, G.scrollWidth(el) - G.clientWidth(el)), Math.max(0, G.scrollHeight(el) - G.clientHeight(el))];
  return { at: [G.scrollLeft(el), G.scrollTop(el)], end };
}

// Can the wheel move this pane by something in this direction?
function canMove(el, dx, dy) {
  const { at, end } = paneState(el);
  const root = isDocumentPane(el);
  const style = styleOf(el);
  const along = (axis, delta, name) => {
    if (delta === 0 || end[axis] < 1) return false;
    if (!(root ? documentScrolls(name) : scrollsBy(style[name]))) return false;
    // From right to left a pane goes from 0 to negative numbers.
    const low = axis === 0 && style.direction === 'rtl' ? -end[0] : 0;
    const high = axis === 0 && style.direction === 'rtl' ? 0 : end[axis];
    return delta > 0 ? at[axis] < high - 0.5 : at[axis] > low + 0.5;
  };
  return along(0, dx, 'overflowX') || along(1, dy, 'overflowY');
}

// Panes from the innermost outwards that a wheel over `el` may move; the document's last.
function panesRound(el) {
  const chain = [];
  for (let node = el; node && chain.length < MAX_PANES; node = flatParent(node)) {
    if (isRoot(node) || isDocumentPane(node)) continue;
    const style = styleOf(node);
    if (scrollsBy(style.overflowX) || scrollsBy(style.overflowY)) chain.push(node);
  }
  const root = G.scrollingElement(doc);
  if (root) chain.push(root);
  return chain;
}

function describePane(el, from) {
  const told = isDocumentPane(el) ? { ref: null, role: 'document', label: shown(G.title(doc)) } : describeCover(el);
  const { at, end } = paneState(el);
  return { ...told, from: from || at, at, end };
}

// Panes in view that could move, within `scope`.
function movablePanes(scope, dx, dy) {
  const found = [];
  const roots = [scope, ...shadowRootsIn(scope, new WeakMap())];
  let budget = MAX_SEARCHED;
  for (const root of roots) {
    for (const el of M.queryAll(root, '*')) {
      if (budget-- <= 0 || found.length >= MAX_PANES) return found;
      if (G.scrollHeight(el) <= G.clientHeight(el) && G.scrollWidth(el) <= G.clientWidth(el)) continue;
      if (isRoot(el) || !canMove(el, dx, dy) || !isVisible(el)) continue;
      const at = reachablePoint(el);
      if (at) found.push({ el, at });
    }
  }
  return found;
}

// A point of the pane where the wheel reaches it and no pane inside it that could take it.
function reachablePoint(el) {
  const rect = clipRect(el, box(el));
  if (!rect) return null;
  for (const at of candidates([rect])) {
    const hit = hitAt(at[0], at[1]);
    if (hit && inside(hit, el)) return at;
  }
  return null;
}

// Where the wheel turns when nobody says where: over the middle of the page if something can move there, else over
// the one pane that can. An open modal dialog holds everything.
function scrollPlan(args) {
  const { width, height } = viewport();
  const at = [Math.floor(width / 2), Math.floor(height / 2)];
  const modal = modalDialog();
  const hit = hitAt(at[0], at[1]);
  if (hit && frameLabels.has(hit)) return { point: at, panes: [] };
  const round = hit ? panesRound(hit).filter((el) => !modal || inside(el, modal)) : [];
  if (round.some((el) => canMove(el, args.dx, args.dy))) return { point: at, panes: [] };
  const others = movablePanes(modal || doc, args.dx, args.dy);
  if (others.length === 1) return { point: others[0].at, panes: [] };
  return { point: at, panes: others.slice(0, 8).map((other) => describePane(other.el)) };
}

// Notes where the panes under a point, or round an element or a frame, stand. → the frame that lies there, with its box; and how
// far the first pane that can still goes to an end.
function watchPanes(args) {
  const held = args.ref !== undefined ? required(args).el : args.label !== undefined ? ownerOf(args.label) : null;
  const hit = held || hitAt(args.x, args.y);
  const chain = hit ? panesRound(hit) : panesRound(G.documentElement(doc));
  watchedPanes.set(
    String(args.token),
    chain.map((el) => ({ el, from: paneState(el).at })),
  );
  const answer = { frame: null, rect: null, toEnd: null };
  const name = hit ? frameLabels.get(hit) : undefined;
  if (name !== undefined) {
    const rect = box(hit);
    answer.frame = name;
    answer.rect = [rect.x + G.clientLeft(hit), rect.y + G.clientTop(hit), G.clientWidth(hit), G.clientHeight(hit)];
  }
  if (args.dx !== undefined) {
    const first = chain.find((el) => canMove(el, args.dx, args.dy));
    if (first) {
      const { at, end } = paneState(first);
      const left = styleOf(first).direction === 'rtl' ? -end[0] : 0;
      const ends = { top: -at[1], bottom: end[1] - at[1], left: left - at[0], right: left + end[0] - at[0] };
      answer.toEnd = ends[args.to] ?? null;
    }
  }
  return answer;
}

const STILL_FRAMES = 5;
const START_FRAMES = 20;

// Waits until the noted panes stand still, and tells those that moved. Smooth scrolling and snapping take their time.
async function movedPanes(args) {
  const watched = watchedPanes.get(String(args.token)) || [];
  watchedPanes.delete(String(args.token));
  const until = clock() + (args.ms ?? 1500);
  const places = () => watched.map((pane) => paneState(pane.el).at.join()).join(';');
  const begin = watched.map((pane) => pane.from.join()).join(';');
  let last = places();
  let still = 0;
  while (clock() < until) {
    await nextFrame(40);
    const now = places();
    still = now === last ? still + 1 : 0;
    last = now;
    if (still >= (now === begin ? START_FRAMES : STILL_FRAMES)) break;
  }
  const panes = watched.filter((pane) => G.isConnected(pane.el) && paneState(pane.el).at.join() !== pane.from.join());
  return { panes: panes.map((pane) => describePane(pane.el, pane.from)) };
}

// Brings an element into view at once. → whether any part of it can be seen.
function intoView(args) {
  const { el } = required(args);
  const shownPart = areas(el).length > 0 ? el : visibleLabels(el)[0] || el;
  const seen = () => {
    const rects = areas(shownPart).map((rect) => clipRect(shownPart, rect));
    return rects.some((rect) => rect && rect.right > rect.left && rect.bottom > rect.top);
  };
  M.scrollIntoView(shownPart, { behavior: 'instant', block: 'center', inline: 'nearest' });
  return { inView: seen() };
}
