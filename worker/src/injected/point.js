// Where to press: points of an element that the browser's own hit test confirms.

const MAX_RECTS = 24;

// The element at a point, through shadow roots.
function hitAt(x, y) {
  let hit = M.documentPoint(doc, x, y);
  while (hit) {
    const root = shadowOf(hit);
    const inner = root && M.shadowPoint(root, x, y);
    if (!inner || inner === hit || M.getRootNode(inner) !== root) break;
    hit = inner;
  }
  return hit;
}

// A rectangle cut to the viewport and to every scroller round the element; null when nothing is left.
function clipRect(el, rect) {
  const { width, height } = viewport();
  const cut = {
    left: Math.max(rect.left, 0),
    top: Math.max(rect.top, 0),
    right: Math.min(rect.right, width),
    bottom: Math.min(rect.bottom, height),
  };
  let position = styleOf(el).position;
  for (let node = flatParent(el); node && !isRoot(node) && position !== 'fixed'; node = flatParent(node)) {
    const style = styleOf(node);
    if (position === 'absolute' && style.position === 'static') continue;
    if (style.overflowX !== 'visible' && style.display !== 'inline' && style.display !== 'contents') {
      const edge = box(node);
      cut.left = Math.max(cut.left, edge.left);
      cut.top = Math.max(cut.top, edge.top);
      cut.right = Math.min(cut.right, edge.right);
      cut.bottom = Math.min(cut.bottom, edge.bottom);
    }
    position = style.position;
  }
  return cut.right > cut.left || cut.bottom > cut.top
    ? cut.right < cut.left || cut.bottom < cut.top
      ? null
      : cut
    : null;
}

// The boxes that stand for an element: its own client rectangles, or its children's where it has no area itself.
function areas(el) {
  if (tagOf(el) === 'area') return areaBoxes(el);
  const own = Array.from(M.getClientRects(el))
    .slice(0, MAX_RECTS)
    .filter((rect) => rect.width > 0 || rect.height > 0);
  const solid = own.filter((rect) => rect.width > 0 && rect.height > 0);
  if (solid.length > 0) return solid;
  if (own.length > 0 && tagOf(el).startsWith('svg:')) return own;
  return childAreas(el);
}

function childAreas(el) {
  const found = [];
  let budget = 64;
  const collect = (node) =>
    eachChild(node, (child) => {
      if (budget <= 0 || found.length >= MAX_RECTS) return;
      budget -= 1;
      if (G.nodeType(child) === TEXT) {
        if (!/\S/.test(cutChars(G.data(child), 64))) return;
        const rect = textBox(child);
        if (rect.width > 0 && rect.height > 0) found.push(rect);
      } else if (isElement(child)) {
        for (const rect of M.getClientRects(child))
          if (rect.width > 0 && rect.height > 0 && found.length < MAX_RECTS) found.push(rect);
        collect(child);
      }
    });
  collect(el);
  return found;
}

// What may receive the press in the element's place: itself, and the labels of a native control.
function receivers(el) {
  const labels = LABELS[tagOf(el)]?.(el);
  return labels ? [el, ...Array.from(labels).slice(0, 8)] : [el];
}

const isNestedControl = (node) =>
  M.matches(
    node,
    'a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[contenteditable]:not([contenteditable=false])',
  );

// 2: the point reaches the element and no other control; 1: it reaches it through a control inside; 0: it does not.
function grade(hit, el, targets) {
  let through = false;
  for (let node = hit; node; node = flatParent(node)) {
    if (targets.includes(node)) return through ? 1 : 2;
    if (isNestedControl(node) && !(tagOf(el) === 'label' && G.control(el) === node)) through = true;
  }
  // A native control laid over its label, pressed by the label.
  return hit && tagOf(el) === 'label' && G.control(el) === hit ? 2 : 0;
}

const middle = (rect) => [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];

function* grid(rect, steps) {
  for (let row = 0; row < steps; row++) {
    for (let column = 0; column < steps; column++) {
      yield [
        rect.left + ((column + 0.5) * (rect.right - rect.left)) / steps,
        rect.top + ((row + 0.5) * (rect.bottom - rect.top)) / steps,
      ];
    }
  }
}

// Keeps a point a little inside, so that rounding cannot carry it over an edge.
function* candidates(parts) {
  for (const part of parts) yield middle(part);
  for (const part of parts) yield* grid(part, 3);
  for (const part of parts.slice(0, 4)) yield* grid(part, 7);
  for (const part of parts.slice(0, 2)) yield* grid(part, 17);
}

// → {point, clear} | {reason, cover?}; `clear` when no other control inside the element receives the press.
function choosePoint(el, position) {
  const rects = position ? [box(el)] : areas(el);
  if (rects.length === 0) {
    const seen = visibleLabels(el);
    if (seen.length === 0) return { reason: 'not_visible' };
    return choosePointOf(el, seen.flatMap(areas), seen[0]);
  }
  const found = choosePointOf(el, rects, (tagOf(el) === 'area' && pictureOf(el)) || el, position);
  if (found.point || position) return found;
  const inner = childAreas(el);
  const second = inner.length > 0 ? choosePointOf(el, inner, el) : found;
  if (second.point) return second;
  // A control that lies under its own label's paint, or off the page, is pressed by the label.
  const seen = visibleLabels(el);
  const third = seen.length > 0 ? choosePointOf(el, seen.flatMap(areas), seen[0]) : found;
  return third.point ? third : found;
}

function choosePointOf(el, rects, holder, position) {
  const targets = receivers(el);
  let parts;
  if (position) {
    const at = [rects[0].left + G.clientLeft(el) + position.x, rects[0].top + G.clientTop(el) + position.y];
    const { width, height } = viewport();
    if (at[0] < 0 || at[1] < 0 || at[0] >= width || at[1] >= height) return { reason: 'outside_viewport' };
    const hit = hitAt(at[0], at[1]);
    const good = grade(hit, el, targets);
    return good > 0 ? { point: at, clear: good === 2 } : blockedBy(hit, el);
  }
  parts = rects.map((rect) => clipRect(holder, rect)).filter(Boolean);
  if (parts.length === 0) return { reason: 'outside_viewport' };
  let fallback = null;
  let blocked = null;
  for (const at of candidates(parts)) {
    const hit = hitAt(at[0], at[1]);
    const good = grade(hit, el, targets);
    if (good === 2) return { point: at, clear: true };
    if (good === 1) fallback = fallback || at;
    else if (hit && (!blocked || inside(el, blocked))) blocked = hit;
  }
  if (fallback) return { point: fallback, clear: false };
  return blocked ? blockedBy(blocked, el) : { reason: 'outside_viewport' };
}

function blockedBy(hit, el) {
  if (!hit) return { reason: 'outside_viewport' };
  // Nothing lies over what lets presses through, or shows nothing there, to what it lies in itself.
  if (styleOf(el).pointerEvents === 'none' || inside(el, hit)) return { reason: 'hit_test_blocked', cover: null };
  return { reason: 'hit_test_blocked', cover: coverOf(hit, el) };
}

// The whole thing that lies over the element: the outermost ancestor of what was hit that does not hold the element.
function coverOf(hit, el) {
  let cover = hit;
  for (let node = hit; node && !inside(el, node); node = flatParent(node)) cover = node;
  return cover;
}
