// State that changes without a mutation record: values, checks, popovers, style sheets, and what style alone shows or
// hides. One cheap pass at every look.

const PROBED = 1500;
const liveSigs = new WeakMap();
let probeAt = 0;

// Live state of a control that changes without a mutation record.
function liveSig(el, tag) {
  if (tag === 'dialog' || tag === 'details') return M.matches(el, ':modal') + '/' + M.matches(el, ':open');
  if (tag === 'img' || tag === 'canvas' || tag === 'video') return isLargePicture(el, tag) ? 'large' : '';
  if (!MESSAGE[tag]) return M.matches(el, ':popover-open') ? 'open' : '';
  let sig = '';
  if (tag === 'input') {
    const type = G.type(el);
    if (type === 'checkbox' || type === 'radio') sig = (G.checked(el) ? '1' : '0') + (G.indeterminate(el) ? 'm' : '');
    else if (type === 'file') sig = String(VALUE.input(el)) + (G.files(el)?.length ?? 0);
    else sig = liveValue(el, tag);
  } else if (tag === 'select') {
    sig = G.multiple(el)
      ? Array.from(M.queryAll(el, 'option:checked'), (option) => G.text(option)).join('\u0001')
      : String(G.selectedIndex(el));
  } else if (tag !== 'button') sig = liveValue(el, tag);
  if (M.matches(el, ':invalid')) sig += '\u0001' + MESSAGE[tag](el);
  return M.hasAttribute(el, 'popover') && M.matches(el, ':popover-open') ? sig + '\u0001open' : sig;
}

function liveValue(el, tag) {
  const value = VALUE[tag](el);
  return value.length > NAME_CHARS || isProtected(el, tag) ? digest(value) : value;
}

// Role and name that a custom element gave itself through its internals.
const internalSig = (el) => G.computedRole(el) + '\u0001' + G.computedName(el);

const LIVE = 'input,textarea,select,output,dialog,details,[popover],img:not([alt]),canvas,video';

function sheetSig(root) {
  const shadow = root !== doc;
  let sig = '';
  const add = (sheet) => {
    let rules = -1;
    try {
      rules = sheet.cssRules.length;
    } catch (_) {
      // A sheet of another origin shows its rules to nobody.
    }
    sig += (sheet.disabled ? 'd' : 'e') + rules + ';';
  };
  for (const sheet of shadow ? G.shadowSheets(root) : G.documentSheets(doc)) add(sheet);
  for (const sheet of (shadow ? G.shadowAdopted(root) : G.documentAdopted(doc)) || []) add(sheet);
  return sig;
}

const media = () => win.innerWidth + 'x' + win.innerHeight + '@' + win.devicePixelRatio;

function lastHovered() {
  const hovered = M.queryAll(doc, ':hover');
  return hovered.length === 0 ? null : hovered[hovered.length - 1];
}

// The pass over what no record reports. → does the model have to be built anew?
function livePass(model, shadowRoots) {
  let found = false;
  for (const root of shadowRoots) {
    if (!observed.has(root)) {
      observeRoot(root);
      const fact = facts.get(G.host(root));
      if (fact) fact.deep = fact.stale = true;
      found = true;
    }
  }
  for (const el of model.live) {
    const sig = liveSig(el, tagOf(el));
    if (liveSigs.get(el) !== sig) {
      liveSigs.set(el, sig);
      const fact = facts.get(el);
      if (fact) fact.stale = fact.deep = true;
      found = true;
    }
  }
  if (model.focus !== activeElement() || model.media !== media() || model.hovered !== lastHovered()) found = true;
  const sheets = model.roots.map(sheetSig).join('|');
  if (sheets !== model.sheets || model.design !== G.designMode(doc)) {
    dirt.all = true;
    found = true;
  }
  for (const el of model.custom) {
    const fact = facts.get(el);
    if (fact && fact.internal !== internalSig(el)) {
      fact.stale = true;
      found = true;
    }
  }
  return found || probe(model.probes);
}

// Rows, texts and hidden parts whose visibility changed by style alone: hover, media, edited rules. All of a usual
// page, a moving part of a huge one.
function probe(probes) {
  const count = Math.min(probes.length, PROBED);
  if (probeAt >= probes.length) probeAt = 0;
  for (let i = 0; i < count; i++) {
    const { el, was } = probes[(probeAt + i) % probes.length];
    if (was !== rendered(el)) return true;
  }
  probeAt += count;
  return false;
}
