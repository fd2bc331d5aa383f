// Frame owners: labels that the worker gave to iframe elements, and what can be seen of them from this document.

const frameLabels = new WeakMap();
const frameOwners = new Map();
const FRAME_TAGS = new Set(['iframe', 'frame', 'fencedframe']);

function labelFrame(args, handles) {
  const owner = handles[0];
  if (!isElement(owner)) throw new Failure('bad_argument', { detail: 'frame' });
  frameLabels.set(owner, String(args.label));
  frameOwners.set(String(args.label), new WeakRef(owner));
  // An embedded object is a row only when it holds a frame, which is known from now on.
  if (!FRAME_TAGS.has(G.localName(owner))) quietly(() => dirt.deep.add(owner));
  return { ok: true };
}

// Labels of the frames whose element can be seen, within `scope` where one is given; and of those that nobody sees,
// whatever they show.
function placedFrames(scope = null) {
  const seen = [];
  const unseen = [];
  for (const [name, weak] of frameOwners) {
    const owner = weak.deref();
    if (!owner || !G.isConnected(owner)) continue;
    const usable = isVisible(owner) && !nearest(owner, (node) => M.hasAttribute(node, 'inert'));
    if (!usable) unseen.push(name);
    else if (!scope || inside(owner, scope)) seen.push(name);
  }
  return { seen, unseen };
}

// Labels of the visible frames whose elements lie in an element, or are it.
function framesIn(args) {
  return { labels: placedFrames(required(args).el).seen };
}

// The label of the frame that an element holds.
function frameIn(args) {
  return { label: frameLabels.get(required(args).el) ?? null };
}

function ownerOf(name) {
  const owner = frameOwners.get(name)?.deref();
  if (!owner || !G.isConnected(owner)) throw new Failure('unknown_frame', { frame: String(name).slice(0, 32) });
  return owner;
}

// Is the frame what lies at this point of this document's viewport?
function hitFrame(args) {
  const owner = ownerOf(args.label);
  const found = hitAt(args.x, args.y);
  if (found === owner) return { ok: true };
  return { ok: false, blocker: found ? describeCover(coverOf(found, owner)) : null };
}

// Whether the frame element can be seen, its content box and the part of that inside the viewport and all scrollers.
function frameVisible(args) {
  const owner = ownerOf(args.label);
  const outer = box(owner);
  const rect = {
    x: outer.x + G.clientLeft(owner),
    y: outer.y + G.clientTop(owner),
    width: G.clientWidth(owner),
    height: G.clientHeight(owner),
  };
  const clip = clipRect(owner, { left: rect.x, top: rect.y, right: rect.x + rect.width, bottom: rect.y + rect.height });
  return {
    visible: isVisible(owner),
    enabled: isEnabled(owner),
    rect: [rect.x, rect.y, rect.width, rect.height],
    clip: clip ? [clip.left, clip.top, clip.right - clip.left, clip.bottom - clip.top] : null,
  };
}

// Scrolls the frame element into view, for a target inside it.
function frameScroll(args) {
  const owner = ownerOf(args.label);
  const block = ['center', 'start', 'end'][(args.attempt || 0) % 3];
  M.scrollIntoView(owner, { behavior: 'instant', block, inline: 'nearest' });
  return { ok: true };
}
