// One attempt to make a target ready for input: state, scrolling, stability, hit test, in the order of contract 5.1.
// Answers are values; the caller retries.

const lastBoxes = new WeakMap();
// Whether the point that was chosen last reaches the element itself and no control inside it.
const clearPoints = new WeakMap();
const FRAME_WAIT = 120;
const SETTLED_AFTER = 20;

// The next animation frame, or a timer where none comes. → true when it was a frame.
function nextFrame(wait = FRAME_WAIT) {
  return new Promise((done) => {
    const timer = setTimer(() => {
      offFrame(frame);
      done(false);
    }, wait);
    const frame = onFrame(() => {
      clearTimer(timer);
      done(true);
    });
  });
}

async function settle(args) {
  let timedOut = false;
  const frames = args.frames ?? 2;
  for (let i = 0; i < frames; i++) timedOut = !(await nextFrame(100)) || timedOut;
  // A document that never painted has nothing on the screen yet, whatever its frames say.
  const until = clock() + (args.paintedMs || 0);
  while (clock() < until && entriesOf('paint').length === 0) await nextFrame(50);
  // The page's own timers that were due by then have run, however busy the machine is.
  if (args.restMs) await new Promise((resolve) => setTimer(resolve, args.restMs));
  return { frames, timedOut };
}

// The field that typing into `el` reaches: itself, its editing host, a label's control, or the field that a host
// forwards its focus to.
function fieldOf(el) {
  const tag = tagOf(el);
  if (tag === 'input' || tag === 'textarea' || tag === 'select') return el;
  if (G.isContentEditable(el)) {
    let host = el;
    for (let node = flatParent(el); node && G.isContentEditable(node); node = flatParent(node)) host = node;
    // A document that is an editor as a whole is edited in its body.
    return host === G.documentElement(doc) ? G.body(doc) || host : host;
  }
  if (tag === 'label') return G.control(el);
  const root = shadowOf(el);
  if (root && G.delegatesFocus(root))
    return M.queryAll(root, 'input:not([type=hidden]),textarea,[contenteditable]')[0] || null;
  return null;
}

function isEditable(el) {
  const field = fieldOf(el);
  if (!field) return false;
  const tag = tagOf(field);
  if (tag === 'select') return false;
  if (isTrue(field, 'aria-readonly')) return false;
  if (tag === 'input') {
    const type = G.type(field);
    if (!TEXT_TYPES.has(type) && !TYPED_WITHOUT_ROLE.has(type) && type !== 'range') return false;
  }
  return tag === 'input' || tag === 'textarea'
    ? !M.hasAttribute(field, 'readonly') && !M.matches(field, ':disabled')
    : true;
}

function state(el, need) {
  const hidden = hiddenReason(el);
  if (hidden) return hidden;
  if (need === 'none') return null;
  if (need !== 'hover' && !isEnabled(el)) return isBehindModal(el) ? 'hit_test_blocked' : 'disabled';
  if (need === 'fill' && !isEditable(el)) return 'not_editable';
  return null;
}

// Inert only because a modal dialog is open: what lies in the way is the dialog.
const isBehindModal = (el) =>
  modalDialog() !== null &&
  !M.matches(el, ':disabled') &&
  !nearest(el, (node) => isTrue(node, 'aria-disabled') || M.hasAttribute(node, 'inert'));

const sameBox = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
const copyBox = (rect) => ({ x: rect.x, y: rect.y, width: rect.width, height: rect.height });

// The box whose movement counts: the element's, or its label's where the control itself has none.
function anchorOf(el) {
  const rect = box(el);
  if (rect.width > 0 || rect.height > 0) return el;
  return visibleLabels(el)[0] || el;
}

// Does an animation move this element or what it lies in?
function isAnimated(el) {
  const running = M.getAnimations(doc);
  if (running.length === 0) return false;
  if (running.length > 64) return true;
  return running.some((animation) => {
    const moved = animation.effect?.target;
    return animation.playState === 'running' && moved && inside(el, moved);
  });
}

// The element stood here before this frame, as far as we saw it.
function stoodStill(el, rect) {
  const last = lastBoxes.get(el);
  return last !== undefined && clock() - last.at >= SETTLED_AFTER && sameBox(last.rect, rect) && !isAnimated(el);
}

// Notes where an element is, so that a press soon after need not wait a frame to know that it stands still.
function noteBox(el) {
  const anchor = anchorOf(el);
  const rect = copyBox(box(anchor));
  const last = lastBoxes.get(anchor);
  if (!last || !sameBox(last.rect, rect)) lastBoxes.set(anchor, { rect, at: clock() });
}

const holdsPoint = (rect, point) =>
  point[0] >= rect.x && point[0] <= rect.x + rect.width && point[1] >= rect.y && point[1] <= rect.y + rect.height;

// Where the box will be two frames on, if it goes on as it did.
function ahead(before, after) {
  const step = (key) => after[key] + 2 * (after[key] - before[key]);
  return { x: step('x'), y: step('y'), width: Math.max(0, step('width')), height: Math.max(0, step('height')) };
}

function notYet(reason, scrolled, cover = reason === 'hit_test_blocked' ? modalDialog() : null) {
  const answer = { status: 'not_yet', reason, scrolled };
  if (cover) answer.blocker = describeCover(cover);
  return answer;
}

async function prepare(args) {
  const found = resolve(args.ref, args.asOf);
  if (found.unknown) throw new Failure('unknown_ref', { ref: args.ref });
  if (found.stale) return { status: 'stale', reason: found.stale.reason, stale: found.stale };
  const el = found.el;
  const need = args.need || 'click';
  if (need === 'click' && isClosedOption(el)) throw new Failure('closed_option', {});
  const refused = state(el, need);
  if (refused) return notYet(refused, false);
  if (need === 'none') return { status: 'ready', point: null, rect: rectOf(el), row: semanticRow(el), scrolled: false };
  const pressed = need === 'click' || need === 'hover';
  if (args.position && !holdsPosition(el, args.position)) throw new Failure('outside_element', { detail: 'position' });
  const scrolled = bringIntoView(el, args, pressed);
  const anchor = anchorOf(el);
  const before = copyBox(box(anchor));
  let moving = false;
  if (scrolled || !stoodStill(anchor, before)) {
    await nextFrame();
    const gone = resolve(args.ref, args.asOf);
    if (!gone.el) return { status: 'stale', reason: gone.stale?.reason || 'detached', stale: gone.stale };
    const later = state(el, need);
    if (later) return notYet(later, scrolled);
    moving = !sameBox(before, box(anchor));
  }
  const after = copyBox(box(anchor));
  if (!moving) lastBoxes.set(anchor, { rect: after, at: lastBoxes.get(anchor)?.at ?? clock() });
  const chosen = choosePoint(el, args.position);
  if (!chosen.point) {
    if (!pressed) return { status: 'ready', point: null, rect: rectOf(el), row: semanticRow(el), scrolled };
    return notYet(
      moving && chosen.reason !== 'hit_test_blocked' ? 'unstable_geometry' : chosen.reason,
      scrolled,
      chosen.cover,
    );
  }
  if (moving && pressed && !(holdsPoint(before, chosen.point) && holdsPoint(ahead(before, after), chosen.point))) {
    return notYet('unstable_geometry', scrolled);
  }
  clearPoints.set(el, chosen.clear);
  const checked = checkedOf(el);
  return { status: 'ready', point: chosen.point, rect: rectOf(el), row: semanticRow(el), scrolled, moving, checked };
}

// Scrolls only when no point can be pressed where the element is. Later attempts put it elsewhere in the view, past
// sticky headers; an element that is merely covered is moved on a few later attempts only, or a layer that stays would
// make the page jump for as long as we wait.
function bringIntoView(el, args, pressed) {
  if (args.scroll === false) return false;
  const now = choosePoint(el, args.position);
  const attempt = args.attempt || 0;
  if (now.point) return false;
  if (now.reason === 'hit_test_blocked' && (attempt > 4 || (attempt === 0 && !isUnderSticky(now.cover)))) return false;
  if (!pressed && now.reason === 'hit_test_blocked') return false;
  const block = ['center', 'start', 'end', 'nearest'][attempt % 4];
  const moved = areas(el).length > 0 ? el : visibleLabels(el)[0] || el;
  M.scrollIntoView(moved, { behavior: 'instant', block, inline: attempt % 2 === 0 ? 'nearest' : 'center' });
  if (args.position) centerPosition(el, args.position);
  return true;
}

// A position is counted from the inner edge of the element's border.
function holdsPosition(el, position) {
  const rect = box(el);
  const x = position.x + G.clientLeft(el);
  const y = position.y + G.clientTop(el);
  return x >= 0 && y >= 0 && x < rect.width && y < rect.height;
}

// Scrolls a point of an element that is larger than the view to the middle of each pane that it lies in.
function centerPosition(el, position) {
  for (const pane of panesRound(el)) {
    const rect = box(el);
    const at = [rect.left + G.clientLeft(el) + position.x, rect.top + G.clientTop(el) + position.y];
    const view = isDocumentPane(pane) ? { left: 0, top: 0, ...viewport() } : box(pane);
    const beyond = (value, start, size) => value < start + 1 || value > start + size - 1;
    const left = beyond(at[0], view.left, view.width) ? at[0] - view.left - view.width / 2 : 0;
    const top = beyond(at[1], view.top, view.height) ? at[1] - view.top - view.height / 2 : 0;
    if (left !== 0 || top !== 0) M.scrollBy(pane, { left, top, behavior: 'instant' });
  }
}

// Covered by something that stays while the rest scrolls?
const isUnderSticky = (cover) =>
  Boolean(
    cover &&
    nearest(cover, (node) => {
      const position = styleOf(node).position;
      return position === 'sticky' || position === 'fixed';
    }),
  );

const rectOf = (el) => {
  const rect = box(anchorOf(el));
  return [rect.x, rect.y, rect.width, rect.height];
};
