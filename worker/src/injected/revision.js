// The revision of this document's semantic state: what marks it dirty, how it is brought up to date, what changed.
// Three sources: mutation records, one pass over live state that no record reports, and the rows' own visibility.

const revision = { seq: 0, model: null, full: true, cause: true, quiet: false };
const dirt = { deep: new Set(), self: new Set(), names: new Set(), gone: new Set(), all: false };
const MAX_DIRT = 2000;
const observed = new WeakSet();
const hosts = new Map();
let watchers = new Set();

const OBSERVE = { subtree: true, childList: true, attributes: true, characterData: true };
const observer = new MutationObserver((records) => {
  soil(records);
  for (const wake of watchers) wake();
});

function observeRoot(root) {
  if (observed.has(root)) return;
  observed.add(root);
  observer.observe(root, OBSERVE);
  watchScrolls(root);
}
observeRoot(doc);

function soil(records) {
  if (dirt.all) return;
  for (const record of records) {
    if (record.type === 'characterData') dirt.names.add(record.target);
    else if (record.type === 'attributes') dirt.deep.add(record.target);
    else {
      dirt.self.add(record.target);
      for (const added of record.addedNodes) dirt.deep.add(added);
      for (const left of record.removedNodes) if (isElement(left)) dirt.gone.add(left);
    }
  }
  if (dirt.deep.size + dirt.self.size + dirt.names.size + dirt.gone.size > MAX_DIRT) soilAll();
}

function soilAll() {
  forget();
  dirt.all = true;
}

// Turns what was noted into marks on the facts. Returns whether names that come from elsewhere must be read again.
function mark() {
  let renames = false;
  const climbed = new Set();
  const climb = (n) => {
    for (let node = n; node && !climbed.has(node); node = flatParent(node)) {
      climbed.add(node);
      const fact = facts.get(node);
      if (fact) fact.nameStale = true;
      if (G.nodeType(node) === ELEMENT && !renames) {
        renames = lendsName(node);
      }
    }
  };
  for (const n of dirt.deep) {
    const fact = facts.get(n);
    if (fact) fact.deep = fact.stale = true;
    if (isElement(n)) {
      const next = G.nextElementSibling(n);
      const beside = next && facts.get(next);
      if (beside) beside.deep = beside.stale = true;
      renames = renames || lendsNames(n);
    }
    climb(n);
  }
  for (const n of dirt.self) {
    const el = isElement(n) ? n : isShadow(n) ? G.host(n) : null;
    const fact = el && facts.get(el);
    if (fact) fact.stale = true;
    if (el) climb(el);
  }
  for (const n of dirt.gone) renames = renames || lendsNames(n);
  for (const n of dirt.names) {
    const el = isShadow(n) ? G.host(n) : n;
    const fact = facts.get(el);
    if (fact) fact.stale = true;
    climb(el);
  }
  return renames;
}

const lendsName = (el) =>
  G.localName(el) === 'label' || (M.hasAttribute(el, 'id') && referenced.has(attribute(el, 'id')));

// Does the element, or one below it, give its text to others as their name?
const lendsNames = (el) => lendsName(el) || Array.from(M.queryAll(el, 'label,[id]')).some(lendsName);

function forget() {
  dirt.gone.clear();
  dirt.deep.clear();
  dirt.self.clear();
  dirt.names.clear();
  dirt.all = false;
}

const pending = { added: 0, removed: 0, changedRows: 0, text: false, title: false, url: false, sample: new Set() };

// Brings the model up to date and returns it.
function refresh() {
  soil(observer.takeRecords());
  const last = revision.model;
  // Which elements there are changes with records only.
  const moved = !last || dirt.all || dirt.self.size > 0 || dirt.deep.size > 0;
  if (moved) hosts.clear();
  const shadowRoots = shadowRootsIn(doc, hosts);
  const live = last ? livePass(last, shadowRoots) : true;
  const dirty = dirt.all || dirt.deep.size > 0 || dirt.self.size > 0 || dirt.names.size > 0;
  if (last && !dirty && !live) return addressed(last);
  const all = dirt.all || !last;
  const renames = all || mark();
  const touched = all ? [] : [...dirt.self, ...dirt.names];
  forget();
  revision.full = all;
  const roots = [doc, ...shadowRoots];
  roots.forEach(observeRoot);
  countLabels();
  const walk = new Walk({ fresh: all, names: renames, labels: manyLabels ? labelIndex(roots) : null })
    .start(doc)
    .settle();
  const model = {
    rows: walk.rows,
    text: walk.wholeText(),
    tooDeep: walk.tooDeep,
    modal: walk.modal,
    focus: walk.focus,
    roots,
    media: media(),
    hovered: lastHovered(),
    sheets: roots.map(sheetSig).join('|'),
    design: G.designMode(doc),
    title: last?.title,
    url: last?.url,
    probes: walk.probes,
    custom: walk.custom,
    generation: (last?.generation || 0) + 1,
    live: moved || live ? roots.flatMap((root) => Array.from(M.queryAll(root, LIVE))) : last.live,
  };
  if (model.live !== last?.live) for (const el of model.live) liveSigs.set(el, liveSig(el, tagOf(el)));
  for (const el of model.custom) facts.get(el).internal = internalSig(el);
  compare(last, model, touched, all);
  revision.model = model;
  return addressed(model);
}

// Title and address, which need no walk.
function addressed(model) {
  const title = G.title(doc);
  const url = G.URL(doc);
  if (model.title !== title || model.url !== url) {
    if (model.title !== undefined) {
      if (model.title !== title) pending.title = true;
      if (model.url !== url) pending.url = true;
      revision.seq += 1;
    }
    model.title = title;
    model.url = url;
  }
  if (revision.seq === 0) revision.seq = 1;
  return model;
}

function compare(last, model, touched, all) {
  let added = 0;
  let changed = 0;
  const before = last ? last.generation : 0;
  const differing = [];
  const news = [];
  model.rows.forEach((row) => {
    const fact = row.fact;
    const counts = last && !revision.quiet;
    if (fact.generation !== before || !last) {
      added += 1;
      differing.push(row.el);
      news.push(fact);
      if (counts) noteWas(fact, null);
    } else if (fact.sig !== row.sig) {
      changed += 1;
      differing.push(row.el);
      if (withoutFocus(fact.sig) !== withoutFocus(row.sig)) news.push(fact);
      if (counts) noteWas(fact, fact.row);
    }
    fact.generation = model.generation;
    fact.sig = row.sig;
    fact.row = row;
  });
  if (!last) return;
  const gone = [];
  for (const row of last.rows) {
    if (row.fact.generation === model.generation) continue;
    // Nothing of a row that went is kept but what a delta tells: its element may go.
    row.fact.row = null;
    if (revision.quiet) continue;
    gone.push(row.el);
    noteLeaving(row, last);
    noteWas(row.fact, row);
  }
  if (revision.quiet) {
    for (const fact of news) fact.changed = revision.seq;
    return;
  }
  const removed = gone.length;
  differing.push(...gone);
  if (added === 0 && removed === 0 && changed === 0) {
    changed = model.rows.reduce((moved, row, at) => moved + (last.rows[at].el === row.el ? 0 : 1), 0);
    past.open.moved += changed;
  }
  const text = last.text !== model.text;
  if (added + removed + changed === 0 && !text) return;
  pending.added += added;
  pending.removed += removed;
  pending.changedRows += changed;
  pending.text = pending.text || text;
  past.open.text = past.open.text || text;
  for (const el of differing) if (pending.sample.size < 3) pending.sample.add(el);
  revision.seq += 1;
  for (const fact of news) fact.changed = revision.seq;
  if (all) changes.everywhere = revision.seq;
  for (const n of [...differing, ...touched]) noteChange(n);
}

// Focus goes to whatever is pressed, which is no news about it.
const withoutFocus = (sig) => (sig.endsWith('focused') ? sig.slice(0, -7).replace(/,$/, '') : sig);

// When something in an element, its rows or its text, last changed; for guards that look at a region only.
const changes = { at: new WeakMap(), everywhere: 0 };

function noteChange(n) {
  for (let node = isShadow(n) ? G.host(n) : n; node && changes.at.get(node) !== revision.seq; node = flatParent(node)) {
    changes.at.set(node, revision.seq);
  }
}

// What changed since the last check of this document.
function check() {
  const first = revision.model === null;
  const model = refresh();
  const answer = {
    seq: revision.seq,
    changed:
      !first &&
      (pending.added + pending.removed + pending.changedRows > 0 || pending.text || pending.title || pending.url),
    added: pending.added,
    removed: pending.removed,
    changedRows: pending.changedRows,
    textChanged: pending.text,
    titleChanged: pending.title,
    urlChanged: pending.url,
    sample: Array.from(pending.sample)
      .filter((el) => G.isConnected(el))
      .map((el) => ({ ref: refOf(el), role: rowRole(el, tagOf(el)) })),
    rows: model.rows.length,
    full: revision.full,
    internals: model.rows.some((row) => hasInternalRole(row.el, row.role)),
    unseen: frameOwners.size === 0 ? [] : placedFrames().unseen,
  };
  pending.added = pending.removed = pending.changedRows = 0;
  pending.text = pending.title = pending.url = false;
  pending.sample.clear();
  closeSegment();
  return answer;
}
