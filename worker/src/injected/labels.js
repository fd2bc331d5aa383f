// Labels of controls. Chromium finds the labels of one control by a walk over the whole document, anew after every
// inserted element: half a millisecond each on a large page. Where there are many, the names of plainly labelled
// controls are made here from one index of all labels.

const COSTLY = 4e6;
const FIELDS = new Set(['input', 'textarea', 'select', 'meter', 'progress', 'output']);
const NOT_PLAIN =
  '[aria-label],[aria-labelledby],[aria-hidden],[alt],[role],[title],svg,img,slot,select,textarea,button,input:not([type=checkbox]):not([type=radio])';
let manyLabels = false;

// Once too many, always: a name must not depend on how much else is on the page at the moment.
function countLabels() {
  if (manyLabels) return;
  const fields = M.queryAll(doc, 'input,textarea,select').length;
  manyLabels = fields > 100 && fields * M.getElementsByTagName(doc, '*').length > COSTLY;
}

// Control → its labels, for the document and all known shadow roots.
function labelIndex(roots) {
  const index = new Map();
  for (const root of roots) {
    for (const labelEl of M.queryAll(root, 'label')) {
      const control = G.control(labelEl);
      if (!control) continue;
      const list = index.get(control);
      if (list) list.push(labelEl);
      else index.set(control, [labelEl]);
    }
  }
  return index;
}

// The name of a field by the index, or undefined where only Chromium can tell.
function indexedName(el, tag, index) {
  if (!FIELDS.has(tag) || M.hasAttribute(el, 'aria-labelledby') || M.hasAttribute(el, 'aria-label')) return undefined;
  if (tag === 'input' && (BUTTON_TYPES.has(G.type(el)) || G.type(el) === 'file')) return undefined;
  const list = index.get(el);
  if (!list)
    return attribute(el, 'title') || (tag === 'input' || tag === 'textarea' ? attribute(el, 'placeholder') : '') || '';
  const words = [];
  for (const labelEl of list) {
    for (const inner of M.queryAll(labelEl, NOT_PLAIN)) if (inner !== el) return undefined;
    words.push(collapse(visibleText(labelEl)));
  }
  return words.join(' ');
}
