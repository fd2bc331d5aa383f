// Locators: which elements of this document and its shadow roots one means. Nothing here picks the first of several.

const MAX_FOUND = 2000;
const CONFIRMED = 64;
const CSS_OF_ATTRIBUTE = { placeholder: 'placeholder', alt: 'alt', title: 'title', testid: 'data-testid' };

// → {total, hiddenTotal, matches}; a stale ref answers {total: 0, stale}.
function locate(args) {
  const locator = args.locator;
  if (!locator || typeof locator.kind !== 'string') throw new Failure('invalid_locator', { detail: 'kind' });
  if (locator.kind === 'ref') return locateRef(locator, args);
  const scope = args.scopeRef === undefined ? null : required({ ref: args.scopeRef, asOf: args.asOf }).el;
  const limit = args.limit ?? 8;
  const test = testOf(args.test);
  const { visible, hidden } = findAll(locator, scope, args.includeHidden === true ? 'always' : 'none_visible');
  const good = visible.filter(test).length;
  const matches = visible.slice(0, limit).map((el) => match(el, true));
  for (const el of hidden.slice(0, Math.max(0, limit - matches.length))) matches.push(match(el, false));
  return { total: visible.length, hiddenTotal: hidden.length, good, matches };
}

// What the visible matches of a look are tested for.
function testOf(test) {
  if (!test) return () => true;
  if (test.kind === 'enabled') return isEnabled;
  if (test.kind === 'disabled') return (el) => !isEnabled(el);
  if (test.kind === 'stable') return (el) => stoodStill(anchorOf(el), copyBox(box(anchorOf(el))));
  if (test.kind === 'checked') return isChecked;
  if (test.kind === 'value') return hasValue(String(test.value));
  throw new Failure('bad_argument', { detail: 'test' });
}

function isChecked(el) {
  const tag = tagOf(el);
  const states = statesOf(el, tag, rowRole(el, tag));
  return states.includes('checked') || states.includes('pressed');
}

// The value of a control, an option's text as well as its value, or what an editing host holds.
function hasValue(value) {
  const wanted = lines(value);
  return (el) => {
    const field = fieldOf(el) || el;
    const tag = tagOf(field);
    if (G.isContentEditable(field)) return loose(currentValue(field)) === loose(wanted);
    if (VALUE[tag] && currentValue(field) === wanted) return true;
    const told = valueOf(field, tag, rowRole(field, tag));
    return told !== undefined && lines(String(told)) === wanted;
  };
}

function match(el, visible) {
  const answer = { ...describe(el), visible };
  if (!visible)
    answer.reason = hiddenReason(el) || (isInert(el) ? 'inert' : isAriaHidden(el) ? 'aria_hidden' : 'not_visible');
  else noteBox(el);
  return answer;
}

function locateRef(locator, args) {
  const found = resolve(locator.ref, locator.asOf ?? args.asOf);
  if (found.unknown)
    return { total: 0, hiddenTotal: 0, matches: [], stale: { reason: 'unknown', role: null, candidates: [] } };
  if (found.stale) return { total: 0, hiddenTotal: 0, matches: [], stale: found.stale };
  const visible = hiddenReason(found.el) === null;
  const answer = { ref: locator.ref, role: found.role, label: label(found.name) || label(tagLabel(found.el)), visible };
  if (!visible) answer.reason = 'not_visible';
  const good = visible && testOf(args.test)(found.el) ? 1 : 0;
  if (visible) noteBox(found.el);
  return { total: 1, hiddenTotal: visible ? 0 : 1, good, matches: [answer] };
}

// All elements that a locator means, each once, told apart by visibility. Hidden ones are looked for only when nothing
// visible was found or when asked: `hiddenToo` is always, none_visible or never.
function findAll(locator, scope, hiddenToo) {
  const model = refresh();
  const within = (el) => !scope || (el !== scope && inside(el, scope));
  const kind = locator.kind;
  if (kind === 'css' || kind === 'xpath' || CSS_OF_ATTRIBUTE[kind]) {
    const all = (
      kind === 'xpath'
        ? byXpath(locator.value, model)
        : kind === 'css'
          ? byCss(locator.value, model)
          : byAttribute(locator, model)
    ).filter(within);
    return awake(split(all.slice(0, MAX_FOUND)));
  }
  let visible;
  if (kind === 'name' || kind === 'bare')
    visible = byName(matcher(locator.value, kind === 'bare' ? 'exact' : locator.match), model);
  else if (kind === 'role') visible = byRole(locator, model);
  else if (kind === 'label') visible = byLabel(matcher(locator.value, locator.match), model);
  else if (kind === 'text') visible = byText(locator, scope);
  else throw new Failure('invalid_locator', { detail: 'kind' });
  visible = unique(visible.filter(within));
  const hidden =
    hiddenToo === 'always' || (hiddenToo === 'none_visible' && visible.length === 0)
      ? hiddenMatches(locator, model, new Set(visible)).filter(within)
      : [];
  return awake({ visible, hidden });
}

// Where some of the matches can be used and others are inert, the inert ones count as hidden; then the same of those
// that assistive tools do not see.
function awake(found) {
  if (found.visible.length < 2) return found;
  return without(without(found, inertTest()), isAriaHidden);
}

function without(found, test) {
  const usable = found.visible.filter((el) => !test(el));
  if (usable.length === 0 || usable.length === found.visible.length) return found;
  const rest = new Set(usable);
  return { visible: usable, hidden: [...found.visible.filter((el) => !rest.has(el)), ...found.hidden] };
}

const unique = (list) => Array.from(new Set(list));

function split(all) {
  const visible = [];
  const hidden = [];
  for (const el of all) (hiddenReason(el) === null ? visible : hidden).push(el);
  return { visible, hidden };
}

function byCss(value, model) {
  const found = [];
  try {
    for (const root of model.roots) found.push(...Array.from(M.queryAll(root, value)).slice(0, MAX_FOUND));
  } catch (_) {
    throw new Failure('invalid_locator', { detail: 'css' });
  }
  return found;
}

function byXpath(value, model) {
  const found = [];
  const take = (expression, from) => {
    const result = M.evaluate(doc, expression, from, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    for (let i = 0; i < result.snapshotLength && found.length < MAX_FOUND; i++) {
      const n = result.snapshotItem(i);
      const el = isElement(n) ? n : flatParent(n);
      if (el) found.push(el);
    }
  };
  try {
    take(value, doc);
  } catch (_) {
    throw new Failure('invalid_locator', { detail: 'xpath' });
  }
  const inner = model.roots.length > 1 ? descending(value) : [];
  for (const root of model.roots.slice(1)) {
    if (inner.length === 0) break;
    for (let child = G.firstChild(root); child; child = G.nextSibling(child)) {
      if (!isElement(child)) continue;
      for (const part of inner) {
        take('descendant-or-self::node()/' + part, child);
        try {
          take('self::' + part, child);
        } catch (_) {
          // `self::` cannot stand before every step: then the child is none that the step means.
        }
      }
    }
  }
  return unique(found);
}

// XPath knows no shadow trees: `//x` begins at the document, from whatever node it is asked. The parts of an expression
// that begin so are asked anew below each child of a shadow root. → what follows `//`, or nothing where a part begins
// otherwise.
function descending(value) {
  const parts = [''];
  let quote = '';
  let depth = 0;
  for (const c of value) {
    if (quote) quote = c === quote ? '' : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === '[' || c === '(') depth += 1;
    else if (c === ']' || c === ')') depth -= 1;
    if (c === '|' && !quote && depth === 0) parts.push('');
    else parts[parts.length - 1] += c;
  }
  const trimmed = parts.map((part) => part.trim());
  return trimmed.every((part) => part.startsWith('//')) ? trimmed.map((part) => part.slice(2)) : [];
}

function byAttribute(locator, model) {
  const name = (locator.kind === 'testid' && locator.attribute) || CSS_OF_ATTRIBUTE[locator.kind];
  const test = matcher(locator.value, locator.match);
  return byCss('[' + CSS.escape(name) + ']', model).filter((el) => test(attribute(el, name)));
}

// The first rows that match are read anew, in case the model is behind in a name that style alone changed. Where there
// are more, it is ambiguous anyway.
function confirmed(rows, fits) {
  return rows.filter((row, at) => at >= CONFIRMED || fits(row.el)).map((row) => row.el);
}

function byName(test, model) {
  const rows = model.rows.filter((row) => row.name !== '' && test(row.name));
  return confirmed(rows, (el) => test(identity(el).name));
}

const hasRow = (role) => CONTROL_ROLES.has(role) || STRUCTURE_ROLES.has(role);

function byRole(locator, model) {
  const role = ROLE_ALIASES[locator.role] || locator.role;
  const test = locator.name ? matcher(locator.name.value, locator.name.match) : null;
  const fits = (el, name, states) => (!test || test(name)) && fitsStates(locator, el, states);
  if (hasRow(role)) {
    const rows = model.rows.filter((row) => row.role === role && fits(row.el, row.name, row.states.split(',')));
    return confirmed(rows, (el) => {
      const { tag, name } = identity(el);
      return fits(el, name, statesOf(el, tag, role));
    });
  }
  const found = [];
  for (const root of model.roots) {
    for (const el of M.queryAll(root, '*')) {
      if (found.length >= MAX_FOUND) break;
      const tag = tagOf(el);
      if (NEVER.has(tag) || roleOf(el, tag) !== role || hiddenReason(el) !== null) continue;
      if (fits(el, test ? freshName(el, tag, role) : '', statesOf(el, tag, role))) found.push(el);
    }
  }
  return found;
}

function fitsStates(locator, el, states) {
  const is = (name) => states.includes(name);
  if (
    locator.checked !== undefined &&
    (locator.checked === 'mixed' ? !is('mixed') : is('checked') !== (locator.checked === true))
  )
    return false;
  if (locator.expanded !== undefined && is('expanded') !== locator.expanded) return false;
  if (locator.selected !== undefined && is('selected') !== locator.selected) return false;
  if (locator.disabled !== undefined && isEnabled(el) === locator.disabled) return false;
  return locator.level === undefined || levelOf(el, tagOf(el)) === Number(locator.level);
}

// Controls by a label: its element's text, aria-label, or the elements that aria-labelledby names.
function byLabel(test, model) {
  const index = labelIndex(model.roots);
  const shownRows = new Set(model.rows.map((row) => row.el));
  const others = Array.from(index.keys()).filter((el) => !shownRows.has(el) && hiddenReason(el) === null);
  return [...shownRows, ...others].filter((el) => labelled(el, test, index.get(el)));
}

function labelled(el, test, labels) {
  const given = attribute(el, 'aria-label');
  if (given && test(given)) return true;
  const ids = attribute(el, 'aria-labelledby');
  if (
    ids &&
    test(
      collapse(ids)
        .split(' ')
        .slice(0, 16)
        .map((id) => byId(el, id))
        .filter(Boolean)
        .map(innerTextOf)
        .join(' '),
    )
  )
    return true;
  return labels !== undefined && labels.some((labelEl) => test(labelText(labelEl)));
}

// What a list or a field inside a label holds is none of the label's words.
const IN_LABEL = 'select,textarea,[role=listbox],[contenteditable]';

// A label's own words, without the text of the controls inside it.
function labelText(labelEl) {
  if (M.queryAll(labelEl, IN_LABEL).length > 0) return collapse(wordsOf(labelEl));
  return rendered(labelEl) ? innerTextOf(labelEl) : collapse(cutChars(G.textContent(labelEl) || '', COMPARE_CHARS));
}

function wordsOf(el) {
  const seen = rendered(el);
  let words = '';
  for (let child = G.firstChild(el); child && words.length < COMPARE_CHARS; child = G.nextSibling(child)) {
    if (G.nodeType(child) === TEXT) words += G.textContent(child);
    else if (isElement(child) && !M.matches(child, IN_LABEL) && !NEVER.has(tagOf(child))) {
      if (seen && !rendered(child) && !isContents(child)) continue;
      const apart = styleOf(child).display.startsWith('inline') ? '' : ' ';
      words += apart + wordsOf(child) + apart;
    }
  }
  return cutChars(words, COMPARE_CHARS);
}

const ALL_CONTROLS =
  'option,a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,[role],h1,h2,h3,h4,h5,h6,img[alt],dialog,[tabindex],[contenteditable],[aria-label]';

// Elements that would match if they could be seen: by the names they would have.
function hiddenMatches(locator, model, visible) {
  const shownRows = new Set(model.rows.map((row) => row.el));
  const found = [];
  const kind = locator.kind;
  const given = kind === 'role' ? locator.name : locator;
  const test = given ? matcher(given.value, kind === 'bare' ? 'exact' : given.match) : null;
  const index = kind === 'label' ? labelIndex(model.roots) : null;
  const wantedRole = kind === 'role' ? ROLE_ALIASES[locator.role] || locator.role : null;
  for (const el of byCss(kind === 'text' ? '*' : ALL_CONTROLS, model)) {
    if (found.length >= MAX_FOUND) break;
    if (visible.has(el) || shownRows.has(el)) continue;
    const tag = tagOf(el);
    if (NEVER.has(tag)) continue;
    if (kind === 'text') {
      if (G.firstElementChild(el) || rendered(el) || !test(cutChars(G.textContent(el) || '', COMPARE_CHARS))) continue;
    } else {
      const role = rowRole(el, tag);
      if (wantedRole && role !== wantedRole) continue;
      if (index ? !labelled(el, test, index.get(el)) : test && !test(plainName(el, tag, role))) continue;
    }
    if (hiddenReason(el) !== null || isInert(el) || isAriaHidden(el)) found.push(el);
  }
  return found;
}
