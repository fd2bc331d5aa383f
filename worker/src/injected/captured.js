// Everything of the DOM that the engine may touch, taken from the prototypes once, before any page script ran.
// G reads, S writes, M calls. Page nodes are reached through these only: a form control named `parentNode` replaces
// that member of its form in this world too. A lint in mod.rs holds the other files to it.

const apply = (f) => Function.prototype.call.bind(f);
const getter = (proto, name) => {
  const found = Object.getOwnPropertyDescriptor(proto, name);
  return found && found.get ? apply(found.get) : () => undefined;
};
const setter = (proto, name) => apply(Object.getOwnPropertyDescriptor(proto, name).set);
const method = (proto, name) => apply(proto[name]);

const doc = globalThis.document;
const win = globalThis;
const XHTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';

const ELEMENT = 1;
const TEXT = 3;
const DOCUMENT = 9;
const FRAGMENT = 11;

const G = {};
const take = (proto, names) => {
  for (const name of names) G[name] = getter(proto, name);
};
take(Node.prototype, ['nodeType', 'nodeName', 'firstChild', 'nextSibling', 'parentNode', 'isConnected', 'textContent']);
take(Element.prototype, [
  'localName',
  'namespaceURI',
  'shadowRoot',
  'clientWidth',
  'clientHeight',
  'clientLeft',
  'clientTop',
  'scrollLeft',
  'scrollTop',
  'scrollWidth',
  'scrollHeight',
  'firstElementChild',
  'nextElementSibling',
  'computedRole',
  'computedName',
]);
take(HTMLElement.prototype, ['isContentEditable', 'innerText', 'offsetWidth', 'offsetHeight']);
take(CharacterData.prototype, ['data']);
take(ShadowRoot.prototype, ['host', 'mode', 'delegatesFocus']);
take(Document.prototype, [
  'title',
  'URL',
  'readyState',
  'contentType',
  'body',
  'documentElement',
  'scrollingElement',
  'timeline',
  'designMode',
]);
take(HTMLLabelElement.prototype, ['control']);
take(HTMLTableElement.prototype, ['rows']);
take(HTMLSelectElement.prototype, ['selectedIndex', 'options', 'size', 'multiple']);
take(HTMLOptionElement.prototype, ['text', 'selected']);
take(HTMLInputElement.prototype, ['type', 'checked', 'indeterminate', 'files']);
take(HTMLAnchorElement.prototype, ['href']);
G.slotOfElement = getter(Element.prototype, 'assignedSlot');
G.slotOfText = getter(Text.prototype, 'assignedSlot');
G.areaHref = getter(HTMLAreaElement.prototype, 'href');
G.documentActive = getter(Document.prototype, 'activeElement');
G.shadowActive = getter(ShadowRoot.prototype, 'activeElement');
G.documentSheets = getter(Document.prototype, 'styleSheets');
G.shadowSheets = getter(ShadowRoot.prototype, 'styleSheets');
G.documentAdopted = getter(Document.prototype, 'adoptedStyleSheets');
G.shadowAdopted = getter(ShadowRoot.prototype, 'adoptedStyleSheets');

// Members that several element interfaces define, by local name of the HTML element.
const byTag = (name, interfaces) => {
  const found = {};
  for (const [tag, constructor] of Object.entries(interfaces)) {
    if (constructor) found[tag] = getter(constructor.prototype, name);
  }
  return found;
};
const CONTROLS = {
  input: HTMLInputElement,
  textarea: HTMLTextAreaElement,
  select: HTMLSelectElement,
  button: HTMLButtonElement,
  output: HTMLOutputElement,
};
const VALUE = byTag('value', { ...CONTROLS, meter: HTMLMeterElement, progress: HTMLProgressElement });
const LABELS = byTag('labels', { ...CONTROLS, meter: HTMLMeterElement, progress: HTMLProgressElement });
const MESSAGE = byTag('validationMessage', CONTROLS);
const MAX_LENGTH = byTag('maxLength', { input: HTMLInputElement, textarea: HTMLTextAreaElement });

const FORM = byTag('form', CONTROLS);
const FORM_ELEMENTS = getter(HTMLFormElement.prototype, 'elements');
const BUTTON_TYPE = getter(HTMLButtonElement.prototype, 'type');
const VALUE_OF = { option: getter(HTMLOptionElement.prototype, 'value') };
const selectionOf = (proto) => ({
  start: getter(proto, 'selectionStart'),
  end: getter(proto, 'selectionEnd'),
  set: method(proto, 'setSelectionRange'),
});
const SELECTION = {
  input: selectionOf(HTMLInputElement.prototype),
  textarea: selectionOf(HTMLTextAreaElement.prototype),
};

const S = {
  input: setter(HTMLInputElement.prototype, 'value'),
  textarea: setter(HTMLTextAreaElement.prototype, 'value'),
};

const M = {};
const give = (proto, names) => {
  for (const name of names) M[name] = method(proto, name);
};
give(Node.prototype, ['contains', 'getRootNode', 'compareDocumentPosition']);
give(Element.prototype, [
  'getAttribute',
  'getAttributeNames',
  'hasAttribute',
  'hasAttributes',
  'matches',
  'closest',
  'checkVisibility',
  'getBoundingClientRect',
  'getClientRects',
  'scrollIntoView',
  'scrollBy',
]);
give(HTMLSlotElement.prototype, ['assignedNodes']);
give(EventTarget.prototype, ['addEventListener', 'removeEventListener', 'dispatchEvent']);
give(Document.prototype, [
  'getElementsByTagName',
  'hasFocus',
  'evaluate',
  'createRange',
  'getSelection',
  'getAnimations',
]);
M.rangeBox = method(Range.prototype, 'getBoundingClientRect');
M.focusHtml = method(HTMLElement.prototype, 'focus');
M.focusSvg = method(SVGElement.prototype, 'focus');
M.selectInput = method(HTMLInputElement.prototype, 'select');
M.selectArea = method(HTMLTextAreaElement.prototype, 'select');
M.documentPoint = method(Document.prototype, 'elementFromPoint');
M.shadowPoint = method(ShadowRoot.prototype, 'elementFromPoint');
const queryDocument = method(Document.prototype, 'querySelectorAll');
const queryElement = method(Element.prototype, 'querySelectorAll');
const queryFragment = method(DocumentFragment.prototype, 'querySelectorAll');
M.queryAll = (n, selector) => {
  const type = G.nodeType(n);
  if (type === DOCUMENT) return queryDocument(n, selector);
  return type === FRAGMENT ? queryFragment(n, selector) : queryElement(n, selector);
};

G.fonts = getter(Document.prototype, 'fonts');
// Older browsers have no name for its constructor.
const FONTS = Object.getPrototypeOf(G.fonts(doc) || {});
G.fontStatus = getter(FONTS, 'status');
G.fontsReady = getter(FONTS, 'ready');

// What the engine listens with; aborted when it retires.
const retirement = new AbortController();
const endListening = AbortController.prototype.abort.bind(retirement);
const LISTENING = retirement.signal;

const styleOf = win.getComputedStyle.bind(win);
const setTimer = win.setTimeout.bind(win);
const clearTimer = win.clearTimeout.bind(win);
const onFrame = win.requestAnimationFrame.bind(win);
const offFrame = win.cancelAnimationFrame.bind(win);
const clock = performance.now.bind(performance);
const entriesOf = performance.getEntriesByType.bind(performance);
const viewport = () => ({ width: win.innerWidth, height: win.innerHeight });

// Closed shadow roots that the browser handed to us; open ones are read from their host.
const closedRoots = new WeakMap();
const shadowOf = (el) => G.shadowRoot(el) || closedRoots.get(el) || null;

// A failure with a name, told to the caller as {error: {kind, …}}.
class Failure extends Error {
  constructor(kind, more) {
    super(kind);
    this.answer = { kind, ...more };
  }
}
