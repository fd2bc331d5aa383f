// Waits: the worker asks when something happened, and looks at its condition then.

const waits = new Map();
const LOOK_EVERY = 100;
const WAKE_EVENTS = ['popstate', 'hashchange', 'load', 'transitionend', 'animationend', 'toggle', 'input', 'change'];

function cancelWait(args) {
  const cancel = waits.get(String(args.id));
  if (cancel) cancel();
  return { ok: cancel !== undefined };
}

let comparedModel = null;
let comparedText = '';

const comparableWhole = (text) => collapse(text.normalize('NFC').replace(UNSEEN, ''));

// Does visible text of the document, or of an element, hold this text?
function hasText(args) {
  const wanted = comparable(String(args.value));
  const model = refresh();
  if (args.scopeRef !== undefined) {
    const { el } = required({ ref: args.scopeRef, asOf: args.asOf });
    return { found: comparableWhole(visibleText(el, MAX_TEXT)).includes(wanted) };
  }
  // Made once for each model.
  if (comparedModel !== model) {
    comparedModel = model;
    comparedText = comparableWhole(model.text);
  }
  return { found: comparedText.includes(wanted) };
}
