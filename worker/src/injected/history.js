// What changed between two looks: rows as they were, for a delta and for refs whose element went.

const MAX_SEGMENTS = 16;
const MAX_NOTED = 20000;
const PLACE_CHARS = 64;
const MAX_PLACE = 1024;
const MAX_TWINS = 256;

// One segment lies between two checks. `before` has the rows that changed in it as they were when it began, by fact;
// null for one that was not there.
const segmentAt = (seq) => ({ from: seq, before: new Map(), text: false, moved: 0, over: false });
const past = { open: segmentAt(0), segments: [] };

// Called by every check, so that the worker can name the place.
function closeSegment() {
  if (past.open.from === revision.seq) return;
  past.segments.push(past.open);
  if (past.segments.length > MAX_SEGMENTS) past.segments.shift();
  past.open = segmentAt(revision.seq);
}

function noteWas(fact, row) {
  const { open } = past;
  if (open.over || open.before.has(fact)) return;
  if (open.before.size >= MAX_NOTED) {
    open.over = true;
    open.before.clear();
    return;
  }
  open.before.set(fact, row && !row.left ? recordOf(row) : null);
}

const recordOf = (row) => ({
  ref: numbers.get(row.el) || 0,
  role: row.role,
  name: row.name,
  states: row.states,
  value: row.fact.secret ? undefined : row.value,
});

// The rows as they were at `seq` where they are not the same any more; null where that is no longer known.
function pastSince(seq) {
  const all = [...past.segments, past.open];
  const first = all.findIndex((segment) => segment.from === seq);
  if (first < 0) return null;
  const before = new Map();
  const found = { before, text: false, moved: 0 };
  for (const segment of all.slice(first)) {
    if (segment.over) return null;
    for (const [fact, was] of segment.before) if (!before.has(fact)) before.set(fact, was);
    found.text = found.text || segment.text;
    found.moved += segment.moved;
  }
  return found;
}

// Rows that came, went and changed since `since`; without it all rows came.
function delta(args) {
  const model = refresh();
  const rows = model.rows.filter((row) => !row.left);
  const maxRows = args.maxRows ?? 400;
  const options = { values: args.values !== false };
  const found = args.since === undefined ? { before: null, text: true, moved: 0 } : pastSince(args.since);
  if (!found) return { forgotten: true };
  const { before } = found;
  const came = [];
  const changed = [];
  for (const row of rows) {
    const was = before ? before.get(row.fact) : null;
    if (was === null) came.push(row);
    else if (was && !isSameRecord(was, row, options.values)) changed.push({ row, was });
    if (before) before.delete(row.fact);
  }
  const went = before ? Array.from(before.values()).filter((was) => was !== null) : [];
  const depths = depthsOf(came);
  const { chosen } = choose(came, maxRows);
  return {
    added: topFirst(chosen, depths).map((row) => rowAnswer(row, depths.get(row), options)),
    addedTotal: came.length,
    changed: changed.slice(0, maxRows).map(({ row, was }) => changeAnswer(row, was, options)),
    changedTotal: changed.length,
    removed: went.slice(0, maxRows).map((was) => ({ ref: was.ref, role: was.role, name: shown(was.name) })),
    removedTotal: went.length,
    text: found.text,
    moved: found.moved,
    ...placedFrames(),
  };
}

// Where values are not told, that one changed is not told either.
function isSameRecord(was, row, values) {
  const now = recordOf(row);
  const parts = values ? ['role', 'name', 'states', 'value'] : ['role', 'name', 'states'];
  return parts.every((part) => was[part] === now[part]);
}

// What of a row was otherwise.
function changeAnswer(row, was, options) {
  const answer = rowAnswer(row, 0, options);
  if (was.role !== row.role) answer.wasRole = was.role;
  if (was.name !== row.name) answer.wasName = shown(was.name);
  if (was.states !== row.states) answer.wasStates = was.states ? was.states.split(',') : [];
  if (options.values && !row.fact.secret && was.value !== row.value) answer.wasValue = shown(was.value || '');
  return answer;
}

// Where a row stands: the rows that it lies in, with their names. Controls around it are no places.
function placeOf(row) {
  if (row.place === undefined) {
    const outer = row.parent;
    if (!outer) row.place = '';
    else {
      const above = placeOf(outer);
      row.place =
        isActive(outer) || above.length > MAX_PLACE
          ? above
          : above + '/' + outer.role + ':' + comparable(cutChars(outer.name, PLACE_CHARS));
    }
  }
  return row.place;
}

// Is the row the only one of its role and name in its place? Not where there are too many to tell.
function isAlone(row, model = revision.model) {
  if (!model.twins) {
    model.twins = new Map();
    for (const other of model.rows) {
      const key = other.role + '\u0001' + other.name;
      const list = model.twins.get(key);
      if (list) list.push(other);
      else model.twins.set(key, [other]);
    }
  }
  const twins = model.twins.get(row.role + '\u0001' + row.name) || [];
  return twins.length <= MAX_TWINS && twins.filter((other) => placeOf(other) === placeOf(row)).length === 1;
}

// A row that leaves, where its ref was given out without its place.
function noteLeaving(row, model) {
  const ref = numbers.get(row.el);
  const seen = ref === undefined ? undefined : known.get(ref)?.seen.at(-1);
  if (seen && seen.place === undefined) {
    seen.place = placeOf(row);
    seen.alone = isAlone(row, model);
  }
}

// The rows of now that are like one that was: same role, name and place.
function alike(was, rows) {
  const name = cutChars(comparable(was.name), NAME_CHARS);
  return rows.filter(
    (row) =>
      !row.inert &&
      row.role === was.role &&
      placeOf(row) === was.place &&
      cutChars(comparable(row.name), NAME_CHARS) === name,
  );
}

// What became of refs: each preserved, relocated to the one row that came in its place, or lost.
function reconcile(args) {
  const rows = scopedRows(args);
  return {
    refs: args.refs.map(({ ref, asOf }) => {
      const found = resolve(ref, asOf);
      if (found.unknown) return { lost: 'unknown_ref' };
      if (!found.stale) return { preserved: true, role: found.role, label: label(found.name) };
      const reason = found.stale.reason === 'replaced' ? 'detached' : found.stale.reason;
      const was = seenAt(known.get(ref), asOf);
      if (!was.alone) return { lost: was.place === undefined ? reason : 'ambiguous' };
      const since = asOf === undefined ? null : pastSince(asOf);
      // What was there before did not come in its place.
      const isNew = (row) => (since ? since.before.get(row.fact) === null : !numbers.has(row.el));
      const like = alike(was, rows);
      if (like.length !== 1 || !isNew(like[0])) return { lost: like.length > 1 ? 'ambiguous' : reason };
      return relocated(like[0]);
    }),
  };
}

// The same for elements of a document that went, by what was told of them.
function rediscover(args) {
  const rows = scopedRows(args);
  return {
    refs: args.rows.map((was) => {
      const like = alike(was, rows);
      if (like.length === 1) return relocated(like[0]);
      return { lost: like.length > 1 ? 'ambiguous' : 'navigated' };
    }),
  };
}

function scopedRows(args) {
  if (args.nowhere) return [];
  const scope = args.scopeRef === undefined ? null : required({ ref: args.scopeRef, asOf: args.asOf }).el;
  return refresh().rows.filter((row) => !row.left && (!scope || inside(row.el, scope)));
}

const relocated = (row) => ({ ref: show(row.el, row.role, row.name, row), role: row.role, label: label(row.name) });
