// Refs: numbers that name nodes for the life of the document, with role and name as they were shown.

const numbers = new WeakMap();
const known = new Map();
const MAX_REFS = 50000;
const MAX_SEEN = 8;
let lastRef = 0;

// Gives the node its number and notes what is shown of it now. A client that acts by an older answer names that
// answer's seq, so the last few are kept.
function show(el, role, name, row) {
  const entry = entryOf(el);
  const seen = entry.seen;
  const kept = cutChars(comparable(name), NAME_CHARS);
  let last = seen[seen.length - 1];
  if (!last || last.role !== role || last.name !== kept) {
    if (last && last.seq === revision.seq) seen.pop();
    last = { seq: revision.seq, role, name: kept, place: undefined, alone: false };
    seen.push(last);
    if (seen.length > MAX_SEEN) seen.shift();
  }
  if (row) {
    last.place = placeOf(row);
    last.alone = isAlone(row);
  }
  return entry.ref;
}

function entryOf(el) {
  const ref = numbers.get(el);
  if (ref !== undefined) {
    const entry = known.get(ref);
    if (entry) return entry;
  }
  lastRef += 1;
  const entry = { ref: lastRef, weak: new WeakRef(el), seen: [] };
  numbers.set(el, lastRef);
  known.set(lastRef, entry);
  if (known.size > MAX_REFS) known.delete(known.keys().next().value);
  return entry;
}

// The number alone, for a node whose role and name are not shown with it.
function refOf(el) {
  const entry = entryOf(el);
  if (entry.seen.length === 0) {
    const { role, name } = identity(el);
    return show(el, role, name);
  }
  return entry.ref;
}

// Role and name as they are now, read anew.
function identity(el) {
  const tag = tagOf(el);
  const role = rowRole(el, tag);
  return { tag, role, name: freshName(el, tag, role) };
}

// What a person is told about an element: {ref, role, label}.
function describe(el) {
  const { role, name } = identity(el);
  return { ref: show(el, role, name), role, label: label(name || '') || label(tagLabel(el)) };
}

// The same for something that lies in the way: a layer without a name is told by what it is, not by all its text.
function describeCover(el) {
  const told = describe(el);
  return told.role === 'generic' ? { ...told, label: label(tagLabel(el)) } : told;
}

// The same for a ref that was refused: it stays refused until an answer shows the element as it is now, so that
// repeating a call cannot reach what the element has become.
function describeRefused(el) {
  const { role, name } = identity(el);
  return { ref: refOf(el), role, label: label(name || '') || label(tagLabel(el)) };
}

// What was shown of a node in the answer of that seq.
const seenAt = (entry, asOf) =>
  entry.seen.findLast((was) => asOf === undefined || was.seq <= asOf) ||
  entry.seen[0] || { role: 'generic', name: '' };

// → {el, role, name} | {stale: {reason, role, candidates}} | {unknown: true}. Never another node in its place.
// `asOf` is the seq of the answer that the caller read.
function resolve(ref, asOf) {
  const entry = known.get(ref);
  if (!entry) return { unknown: true };
  const seen = seenAt(entry, asOf);
  const el = entry.weak.deref();
  if (!el || !G.isConnected(el)) return { stale: gone(seen) };
  const tag = tagOf(el);
  const role = rowRole(el, tag);
  if (role !== seen.role) return { stale: { reason: 'changed', role: seen.role, candidates: [describeRefused(el)] } };
  const name = freshName(el, tag, role);
  const same = cutChars(comparable(name), NAME_CHARS) === seen.name;
  // A hidden element has no computed name, so a difference there says nothing.
  if (!same && !isSameByValue(el, tag, role) && isVisible(el)) {
    return { stale: { reason: 'changed', role: seen.role, candidates: [describeRefused(el)] } };
  }
  return { el, tag, role, name };
}

function gone(seen) {
  const alike = refresh().rows.filter(
    (row) => row.role === seen.role && cutChars(comparable(row.name), NAME_CHARS) === seen.name,
  );
  // One that was shown before was there before: it did not come in the other's place.
  const replaced = alike.length === 1 && !numbers.has(alike[0].el);
  const candidates = alike
    .slice(0, 8)
    .map((row) => ({ ref: show(row.el, row.role, row.name), role: row.role, label: label(row.name) }));
  return { reason: replaced ? 'replaced' : 'detached', role: seen.role, candidates };
}

// For methods that take {ref}: the node, or a typed failure.
function required(args) {
  const found = resolve(args.ref, args.asOf);
  if (found.unknown) throw new Failure('unknown_ref', { ref: args.ref });
  if (found.stale) throw new Failure('stale', { stale: found.stale });
  return found;
}
