// Check boxes and lists: their state, their options, and how to get to the wanted ones.

// The state of a check box, radio button, switch or toggle: true, false, 'mixed'; null where there is none.
function checkedOf(el) {
  const tag = tagOf(el);
  const control = tag === 'label' ? G.control(el) : el;
  if (!control) return null;
  if (tagOf(control) === 'input') {
    const type = G.type(control);
    if (type !== 'checkbox' && type !== 'radio') return null;
    return G.indeterminate(control) ? 'mixed' : G.checked(control);
  }
  const controlTag = tagOf(control);
  const role = rowRole(control, controlTag);
  // A button that stays pressed is one by having that state.
  const presses = role === 'button' && M.hasAttribute(control, 'aria-pressed');
  if (!CHECKABLE.has(role) && !presses) return null;
  const states = statesOf(control, controlTag, role);
  if (states.includes('mixed')) return 'mixed';
  return states.includes(presses ? 'pressed' : 'checked');
}

const checkedState = (args) => {
  const { el, role } = required(args);
  return { checked: checkedOf(el), role };
};

const listOf = (option) => {
  const found = nearest(G.parentNode(option), (node) => tagOf(node) === 'select');
  return found || null;
};

const isPopupList = (el) => tagOf(el) === 'select' && !G.multiple(el) && G.size(el) <= 1;
const isStyledList = (el) => isPopupList(el) && styleOf(el).appearance === 'base-select';

// An option whose list opens outside the page cannot be pressed.
const isClosedOption = (el) => {
  if (tagOf(el) !== 'option') return false;
  const list = listOf(el);
  return list !== null && isPopupList(list) && !(isStyledList(list) && M.matches(list, ':open'));
};

const optionText = (option) => collapse(G.text(option));
const optionOff = (option) => M.matches(option, ':disabled');

function fits(option, at, args) {
  if (args.values !== undefined) return args.values.includes(VALUE_OF.option(option));
  if (args.value !== undefined) return VALUE_OF.option(option) === args.value;
  if (args.index !== undefined) return at === args.index;
  const wanted = comparable(args.label);
  return comparable(optionText(option)) === wanted || comparable(attribute(option, 'label') || '') === wanted;
}

const MAX_TOLD = 40;

// A button that says that it opens a list is a combo box without a field.
function madeRole(el) {
  const role = roleOf(el, tagOf(el));
  return role === 'button' && attribute(el, 'aria-haspopup') === 'listbox' ? 'combobox' : role;
}

// What a native list offers and what of it is wanted.
// → {kind: popup|styled|box, wanted: [index], chosen: [index], down, options} or {kind: none}.
function listState(args) {
  const { el } = required(args);
  const field = tagOf(el) === 'label' ? G.control(el) : el;
  if (!field || tagOf(field) !== 'select') return { kind: 'none', role: madeRole(el) };
  const options = Array.from(G.options(field));
  const wanted = [];
  options.forEach((option, at) => {
    if (fits(option, at, args)) wanted.push(at);
  });
  const chosen = [];
  options.forEach((option, at) => {
    if (G.selected(option)) chosen.push(at);
  });
  const usable = options.map((option, at) => (optionOff(option) ? -1 : at)).filter((at) => at >= 0);
  return {
    kind: isStyledList(field) ? 'styled' : isPopupList(field) ? 'popup' : 'box',
    multiple: G.multiple(field),
    ref: refOf(field),
    wanted,
    chosen,
    off: wanted.filter((at) => optionOff(options[at])),
    // Steps from the first option that can be chosen.
    steps: wanted.length === 1 ? usable.indexOf(wanted[0]) : -1,
    total: options.length,
    missing: (args.values || []).filter((value) => !options.some((o) => VALUE_OF.option(o) === value)).length,
    options: options.slice(0, MAX_TOLD).map((option) => label(optionText(option))),
  };
}

// Refs of options of a native list, by their places.
function optionRefs(args) {
  const { el } = required(args);
  const options = G.options(el);
  return { refs: args.at.map((at) => (options[at] ? refOf(options[at]) : null)) };
}

const optionName = (option) => identity(option).name || visibleText(option);

const MAX_DRAWN = 400;

// Some lists are for assistive technology alone and have no size; the options that are seen lie beside them without a
// role. → the innermost visible elements with words in what pops up.
function drawnBeside(list) {
  if (isVisible(list)) return [];
  const popup = nearest(G.parentNode(list), (node) => isElement(node) && isVisible(node) && visibleText(node) !== '');
  if (!popup || popup === G.body(doc) || popup === G.documentElement(doc)) return [];
  return Array.from(M.queryAll(popup, '*'))
    .slice(0, MAX_DRAWN)
    .filter((el) => !G.firstElementChild(el) && isVisible(el) && visibleText(el) !== '' && !nearest(el, (node) => node === list));
}

// Where a combo box shows what was chosen when its field is empty: near it, with no other control between.
const OTHERS = 'input:not([type=hidden]),select,textarea,[role=combobox],[role=textbox],[role=listbox]:not([aria-hidden=true])';
const UNSHOWN = '[role=listbox],[role=option],[aria-live],[role=log],[role=status],[role=alert]';
const NEAR = 5;

function showsNear(el, wanted) {
  let around = G.parentNode(el);
  for (let level = 0; level < NEAR && isElement(around) && around !== G.body(doc); level += 1) {
    if (Array.from(M.queryAll(around, OTHERS)).some((other) => other !== el && isVisible(other))) return false;
    const texts = Array.from(M.queryAll(around, '*')).slice(0, MAX_DRAWN);
    const shown = (text) => !G.firstElementChild(text) && comparable(G.textContent(text) || '') === wanted && isVisible(text);
    if (texts.some((text) => shown(text) && !nearest(text, (node) => isElement(node) && M.matches(node, UNSHOWN)))) return true;
    around = G.parentNode(around);
  }
  return false;
}

// A list that the page made itself: its visible options, and which of them is called so.
function madeOptions(args) {
  const { el, role } = required(args);
  const ids = `${attribute(el, 'aria-controls') || ''} ${attribute(el, 'aria-owns') || ''}`.split(/\s+/).filter(Boolean);
  const holders = role === 'listbox' ? [el] : ids.map((id) => byId(el, id)).filter(Boolean);
  const roots = holders.length > 0 ? holders : [doc];
  const all = roots.flatMap((root) => Array.from(M.queryAll(root, '[role=option]')));
  const visibleOptions = unique(all).filter((option) => isVisible(option));
  const shownOptions = visibleOptions.length > 0 ? visibleOptions : unique(holders.flatMap(drawnBeside));
  const wanted = comparable(args.label);
  const called = shownOptions.filter((option) => comparable(optionName(option)) === wanted);
  return {
    expanded: attribute(el, 'aria-expanded'),
    named: holders.length > 0,
    refs: called.slice(0, 8).map((option) => refOf(option)),
    count: called.length,
    options: shownOptions.slice(0, MAX_TOLD).map((option) => label(optionName(option))),
    total: shownOptions.length,
  };
}

// What a list that the page made shows as chosen: the label alone, within more, or near an empty field.
function madeState(args) {
  const { el } = required(args);
  const wanted = comparable(args.label);
  const option = args.option === undefined ? null : known.get(args.option)?.weak.deref();
  const marked = option && G.isConnected(option) ? attribute(option, 'aria-selected') : null;
  const tag = tagOf(el);
  // A button's value is not what it shows.
  const own = VALUE[tag] && tag !== 'button' ? VALUE[tag](el) : visibleText(el);
  const text = comparable(own);
  const blank = collapse(own) === '';
  return {
    marked: marked === null ? null : marked === 'true',
    whole: text === wanted,
    part: text.includes(wanted),
    near: blank && showsNear(el, wanted),
    blank,
    own: label(text),
  };
}
