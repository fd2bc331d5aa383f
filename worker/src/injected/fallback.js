// Roles and accessible names for browsers that were started without Chromium's getters, by HTML-AAM and accname as
// Chromium reads them: a test compares both on every page of the fixtures. Used in attached sessions alone.

const ARIA_ROLES = new Set(
  (
    'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox ' +
    'comment complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid ' +
    'gridcell group heading image insertion link list listbox listitem log main mark marquee math menu menubar menuitem ' +
    'menuitemcheckbox menuitemradio meter navigation none note option paragraph progressbar radio radiogroup region row ' +
    'rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong ' +
    'subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree ' +
    'treegrid treeitem graphics-document graphics-object graphics-symbol doc-abstract doc-acknowledgments doc-afterword ' +
    'doc-appendix doc-backlink doc-biblioentry doc-bibliography doc-biblioref doc-chapter doc-colophon doc-conclusion ' +
    'doc-cover doc-credit doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata ' +
    'doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice ' +
    'doc-pagebreak doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc'
  ).split(' '),
);
const ARIA_WORDS = { presentation: 'none', img: 'image', directory: 'list' };
const NAME_NEEDED = new Set(['form', 'region']);
// What counts only inside of what it belongs to.
const HELD_BY = {
  listitem: new Set(['list']),
  option: new Set(['listbox']),
  treeitem: new Set(['tree', 'treegrid', 'treeitem']),
};
const PASSED_BY = new Set(['', 'generic', 'none', 'group']);
const GLOBAL_ARIA = ['aria-label', 'aria-labelledby', 'aria-describedby', 'aria-live', 'aria-controls', 'aria-owns'];

const INPUT_ROLE = {
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  file: 'button',
  checkbox: 'checkbox',
  radio: 'radio',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
};
const LISTED = new Set(['text', 'search', 'tel', 'url', 'email']);
// What is not here is generic.
const HTML_ROLE = {
  address: 'group',
  article: 'article',
  blockquote: 'blockquote',
  button: 'button',
  caption: 'caption',
  code: 'code',
  dd: 'definition',
  del: 'deletion',
  details: 'group',
  dfn: 'term',
  dialog: 'dialog',
  dt: 'term',
  em: 'emphasis',
  fieldset: 'group',
  figure: 'figure',
  form: 'form',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  hgroup: 'group',
  hr: 'separator',
  img: 'image',
  ins: 'insertion',
  main: 'main',
  mark: 'mark',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  s: 'deletion',
  search: 'search',
  strong: 'strong',
  sub: 'subscript',
  sup: 'superscript',
  textarea: 'textbox',
  time: 'time',
  ul: 'list',
  'svg:circle': 'graphics-symbol',
  'svg:ellipse': 'graphics-symbol',
  'svg:g': 'group',
  'svg:image': 'image',
  'svg:line': 'graphics-symbol',
  'svg:path': 'graphics-symbol',
  'svg:polygon': 'graphics-symbol',
  'svg:polyline': 'graphics-symbol',
  'svg:rect': 'graphics-symbol',
  'svg:use': 'graphics-object',
};
// Chromium has a role for these that ARIA has no word for.
const WORDLESS = new Set(
  (
    'head title meta script style link base br abbr figcaption label legend ruby rp rt map area audio video embed object ' +
    'iframe frame canvas dl colgroup col'
  ).split(' '),
);
const SECTIONS = new Set(['article', 'aside', 'nav', 'section']);
const SECTION_ROLES = new Set(['article', 'complementary', 'navigation', 'region']);
const NAMED_BY_CONTENT = new Set(
  (
    'button checkbox cell columnheader gridcell graphics-object heading link math menuitem menuitemcheckbox ' +
    'menuitemradio option radio rowheader switch tab term tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref'
  ).split(' '),
);
const NEVER_TITLED = new Set(
  'generic paragraph caption code deletion emphasis insertion none strong subscript superscript'.split(' '),
);
const NO_CONTENT = new Set(['iframe', 'frame', 'object', 'embed', 'video', 'audio', 'xml:math', 'script', 'style', 'datalist']);
const WRITTEN_IN = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider']);

// What is found out about tables and labels holds for the running task alone.
let found = null;
const afterTask = win.queueMicrotask.bind(win);

function foundNow() {
  if (found === null) {
    found = { tables: new Map(), labels: new Map() };
    afterTask(() => (found = null));
  }
  return found;
}

const isGiven = (el, name) => (attribute(el, name) || '').trim() !== '';
const hasGivenName = (el) => isGiven(el, 'aria-label') || isGiven(el, 'aria-labelledby') || isGiven(el, 'title');

function takesFocus(el, tag) {
  if (M.hasAttribute(el, 'tabindex')) return true;
  if (tag === 'button' || tag === 'select' || tag === 'textarea') return !M.matches(el, ':disabled');
  if (tag === 'input') return G.type(el) !== 'hidden' && !M.matches(el, ':disabled');
  return (tag === 'a' || tag === 'area') && M.hasAttribute(el, 'href');
}

function fallbackRole(el) {
  const tag = tagOf(el);
  const given = attribute(el, 'role');
  if (given) {
    for (const word of collapse(given.toLowerCase()).split(' ')) {
      const role = ARIA_WORDS[word] || word;
      if (!ARIA_ROLES.has(role)) continue;
      if (role === 'none' && (takesFocus(el, tag) || GLOBAL_ARIA.some((name) => M.hasAttribute(el, name)))) break;
      if (NAME_NEEDED.has(role) && !hasGivenName(el)) break;
      if (HELD_BY[role] && !isHeld(el, HELD_BY[role])) break;
      return role;
    }
  }
  return nativeRole(el, tag);
}

function isHeld(el, holders) {
  for (let node = flatParent(el), steps = 0; node && steps < 64; node = flatParent(node), steps++) {
    const role = fallbackRole(node);
    if (holders.has(role)) return true;
    if (!PASSED_BY.has(role)) return false;
  }
  return false;
}

function nativeRole(el, tag) {
  const known = HTML_ROLE[tag];
  if (known !== undefined) return known;
  if (WORDLESS.has(tag) || tag.startsWith('xml:')) return '';
  switch (tag) {
    case 'a':
    case 'svg:a':
      return M.hasAttribute(el, 'href') || M.hasAttribute(el, 'xlink:href') ? 'link' : 'generic';
    case 'input': {
      const type = G.type(el);
      if (TYPED_WITHOUT_ROLE.has(type)) return '';
      if (LISTED.has(type) && M.hasAttribute(el, 'list')) return 'combobox';
      return INPUT_ROLE[type] || 'textbox';
    }
    case 'select':
      return G.multiple(el) || G.size(el) > 1 ? 'listbox' : 'combobox';
    case 'header':
    case 'footer': {
      const of = nearest(flatParent(el), (node) => isSection(node) || G.localName(node) === 'main');
      if (of) return tag === 'header' ? 'sectionheader' : 'sectionfooter';
      return tag === 'header' ? 'banner' : 'contentinfo';
    }
    case 'aside':
      return hasGivenName(el) || !nearest(flatParent(el), isSection) ? 'complementary' : 'generic';
    case 'section':
      return hasGivenName(el) ? 'region' : 'generic';
    case 'li': {
      const parent = flatParent(el);
      return parent && /^(ul|ol|menu)$/.test(tagOf(parent)) && fallbackRole(parent) === 'none' ? 'none' : 'listitem';
    }
    case 'summary': {
      const parent = flatParent(el);
      const slot = parent && tagOf(parent) === 'slot' ? flatParent(parent) : parent;
      return slot && tagOf(slot) === 'details' ? '' : 'generic';
    }
    case 'svg:svg':
      return isDrawing(el) ? 'image' : '';
    case 'table':
    case 'thead':
    case 'tbody':
    case 'tfoot':
    case 'tr':
    case 'td':
    case 'th':
      return tableRole(el, tag);
    default:
      return 'generic';
  }
}

const isSection = (node) =>
  SECTIONS.has(G.localName(node)) || (M.hasAttribute(node, 'role') && SECTION_ROLES.has(fallbackRole(node)));

const isDrawing = (el) =>
  M.queryAll(el, 'path,circle,ellipse,rect,line,polygon,polyline,use,image,title').length > 0 &&
  M.queryAll(el, 'text,tspan,a,foreignObject').length === 0;

function tableRole(el, tag) {
  const table = tag === 'table' ? el : nearest(el, (node) => tagOf(node) === 'table');
  if (!table) return 'generic';
  const kind = tableKind(table);
  if (kind === 'none') return 'generic';
  if (kind === '') return tag === 'tbody' || tag === 'thead' || tag === 'tfoot' ? 'generic' : '';
  if (tag === 'table') return 'table';
  if (tag === 'tr') return 'row';
  if (tag === 'td') return kind === 'grid' || kind === 'treegrid' ? 'gridcell' : 'cell';
  return tag === 'th' ? headerRole(el) : 'rowgroup';
}

// The role of a table as its parts see it: `''` where it only serves the layout.
function tableKind(table) {
  const { tables } = foundNow();
  let kind = tables.get(table);
  if (kind === undefined) {
    const role = M.hasAttribute(table, 'role') ? fallbackRole(table) : '';
    kind = role && role !== 'generic' ? role : isDataTable(table) ? 'table' : '';
    tables.set(table, kind);
  }
  return kind;
}

function headerRole(el) {
  const scope = (attribute(el, 'scope') || '').toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  const row = G.parentNode(el);
  let before = null;
  let after = null;
  let passed = false;
  for (let cell = row && G.firstChild(row); cell; cell = G.nextSibling(cell)) {
    if (!isElement(cell)) continue;
    if (cell === el) passed = true;
    else if (!passed) before = cell;
    else if (after === null) after = cell;
  }
  const beside = [before, after].filter((cell) => cell !== null);
  if (beside.some((cell) => tagOf(cell) === 'th' && (G.textContent(cell) || '').trim() !== '')) return 'columnheader';
  return beside.some((cell) => tagOf(cell) === 'td') ? 'rowheader' : 'columnheader';
}

// Chromium's own guess whether a table has data in it, or serves the layout alone.
function isDataTable(table) {
  if (!rendered(table)) return true;
  if (isGiven(table, 'summary') || M.hasAttribute(table, 'rules') || G.isContentEditable(table)) return true;
  for (let child = G.firstChild(table); child; child = G.nextSibling(child)) {
    if (isElement(child) && /^(caption|thead|tfoot|col|colgroup)$/.test(tagOf(child))) return true;
  }
  const rows = G.rows(table);
  if (rows.length >= 20) return true;
  const background = styleOf(table).backgroundColor;
  let count = 0;
  let bordered = 0;
  let coloured = 0;
  const sides = { Top: 0, Bottom: 0, Left: 0, Right: 0 };
  const stripes = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    if (at < 5) stripes.push(styleOf(row).backgroundColor);
    for (let cell = G.firstChild(row); cell; cell = G.nextSibling(cell)) {
      const tag = isElement(cell) ? tagOf(cell) : '';
      if (tag !== 'td' && tag !== 'th') continue;
      if (tag === 'th' || ['headers', 'abbr', 'axis', 'scope'].some((name) => isGiven(cell, name))) return true;
      const area = box(cell);
      if (area.width === 0 || area.height === 0) continue;
      count += 1;
      const style = styleOf(cell);
      if (style.emptyCells === 'hide') return true;
      const has = (side) => Number.parseFloat(style['border' + side + 'Width']) > 0;
      for (const side of Object.keys(sides)) if (has(side)) sides[side] += 1;
      if ((has('Top') && has('Bottom')) || (has('Left') && has('Right'))) bordered += 1;
      if (style.backgroundColor !== background && !/, 0\)$/.test(style.backgroundColor)) coloured += 1;
      if (bordered >= 10 || coloured >= 10) return true;
    }
  }
  if (count <= 1) return false;
  const half = count / 2;
  if (bordered >= half || coloured >= half || Object.values(sides).some((side) => side >= half)) return true;
  return (
    stripes.length >= 3 &&
    stripes[0] !== stripes[1] &&
    stripes.every((colour, at) => colour === stripes[at % 2])
  );
}

// The accessible name. Chromium has none for what is hidden or inert, but for options of a list that is closed.
function fallbackName(el) {
  const tag = tagOf(el);
  const shownBy = tag === 'option' || tag === 'optgroup' ? nearest(el, (node) => tagOf(node) === 'select') || el : el;
  if (!hasTree(shownBy) && !isContents(shownBy)) return '';
  return nameText(el, tag, { inside: false, labelled: false, hidden: false, but: null, level: 0 }).text;
}

// → {text, given}: `given` is text that stands for the element and not in it.
function nameText(el, tag, of) {
  const ids = of.labelled ? '' : attribute(el, 'aria-labelledby');
  if (ids && ids.trim() !== '') {
    const words = [];
    for (const id of collapse(ids).split(' ').slice(0, 64)) {
      const node = byId(el, id);
      if (!node) continue;
      const hidden = !rendered(node) || isAriaHidden(node);
      words.push(nameText(node, tagOf(node), { ...of, inside: true, labelled: true, hidden, level: of.level + 1 }).text);
    }
    const text = collapse(words.join(' '));
    if (text) return { text, given: true };
  }
  const label = (attribute(el, 'aria-label') || '').trim();
  if (label) {
    const files = tag === 'input' && G.type(el) === 'file' ? ': ' + filesOf(el) : '';
    return { text: label + files, given: true };
  }
  const role = fallbackRole(el);
  if (of.inside && of.level > 0 && WRITTEN_IN.has(role) && el !== of.but) {
    const text = writtenIn(el, tag);
    if (text !== undefined) return { text, given: true };
  }
  const native = nativeName(el, tag, of);
  if (native !== undefined && native !== '') return { text: native, given: tag !== 'option' };
  const byContent =
    of.inside || NAMED_BY_CONTENT.has(role) || isContentNamed(el, tag, role);
  if (byContent && native === undefined && of.level < 64) {
    const text = collapse(contentText(el, tag, of));
    if (text) return { text, given: false };
  }
  const decorative = tag === 'img' && attribute(el, 'alt') === '';
  if (!NEVER_TITLED.has(role) && !decorative) {
    const title = (attribute(el, 'title') || '').trim();
    if (title) return { text: title, given: true };
  }
  if (tag === 'input' || tag === 'textarea') {
    const hint = (attribute(el, 'placeholder') || attribute(el, 'aria-placeholder') || '').trim();
    if (hint) return { text: hint, given: true };
  }
  return { text: '', given: false };
}

function isContentNamed(el, tag, role) {
  if (role === 'row') {
    const table = nearest(flatParent(el), (node) => ['table', 'grid', 'treegrid'].includes(fallbackRole(node)));
    return table !== null && fallbackRole(table) !== 'table';
  }
  return role === '' && (tag === 'td' || tag === 'th' || tag === 'summary' || tag === 'rt');
}

// The name that the language gives: undefined where the content is asked, '' where nothing but the title is.
function nativeName(el, tag, of) {
  switch (tag) {
    case 'input': {
      const type = G.type(el);
      if (type === 'submit' || type === 'reset' || type === 'button') {
        if (M.hasAttribute(el, 'value')) return attribute(el, 'value').trim();
        return type === 'submit' ? 'Submit' : type === 'reset' ? 'Reset' : '';
      }
      if (type === 'image') {
        return ['alt', 'value', 'title'].map((name) => (attribute(el, name) || '').trim()).find(Boolean) || 'Submit';
      }
      const labels = labelsText(el, tag, of);
      if (type !== 'file') return labels;
      return (labels || 'Choose File') + ': ' + filesOf(el);
    }
    case 'textarea':
    case 'select':
    case 'meter':
    case 'progress':
    case 'output':
      return labelsText(el, tag, of);
    case 'button':
      return labelsText(el, tag, of) || undefined;
    case 'img':
      return (attribute(el, 'alt') || '').trim();
    case 'option':
      return (attribute(el, 'label') || '').trim() || collapse(G.textContent(el) || '');
    case 'optgroup':
      return (attribute(el, 'label') || '').trim();
    case 'fieldset':
      return partText(el, 'legend', of);
    case 'table':
      if (tableKind(el) === '') return undefined;
      return partText(el, 'caption', of) || (attribute(el, 'summary') || '').trim() || (of.inside ? undefined : '');
    case 'canvas':
      return of.inside ? collapse(G.textContent(el) || '') : undefined;
    default:
      if (!tag.startsWith('svg:')) return NO_CONTENT.has(tag) ? '' : undefined;
      for (let child = G.firstChild(el); child; child = G.nextSibling(child)) {
        if (isElement(child) && tagOf(child) === 'svg:title') return collapse(G.textContent(child) || '') || undefined;
      }
      return tag === 'svg:svg' ? '' : undefined;
  }
}

function filesOf(el) {
  const files = G.files(el);
  if (!files || files.length === 0) return 'No file chosen';
  return files.length === 1 ? files[0].name : files.length + ' files';
}

// From one index of all labels: the browser would look through the document for each control.
function labelsOf(el, tag) {
  if (!LABELS[tag]) return null;
  const { labels } = foundNow();
  const root = M.getRootNode(el);
  const type = G.nodeType(root);
  if (type !== DOCUMENT && type !== FRAGMENT) return LABELS[tag](el);
  let index = labels.get(root);
  if (!index) {
    index = labelIndex([root]);
    labels.set(root, index);
  }
  return index.get(el) || null;
}

function labelsText(el, tag, of) {
  const labels = labelsOf(el, tag);
  if (!labels || labels.length === 0 || of.level > 8) return '';
  const inLabel = { inside: true, labelled: false, hidden: false, but: el, level: of.level + 1 };
  const words = Array.from(labels)
    .slice(0, 16)
    .map((label) => nameText(label, 'label', inLabel).text);
  return collapse(words.join(' '));
}

function partText(el, part, of) {
  for (let child = G.firstChild(el); child; child = G.nextSibling(child)) {
    if (isElement(child) && tagOf(child) === part) {
      return nameText(child, part, { ...of, inside: true, level: of.level + 1 }).text;
    }
  }
  return '';
}

// What a control holds, told in the name of what it stands in. Never a secret.
function writtenIn(el, tag) {
  if (tag === 'select') {
    const chosen = Array.from(G.options(el)).find((option) => G.selected(option));
    return chosen ? collapse(G.text(chosen)) : '';
  }
  if (tag === 'input') {
    const type = G.type(el);
    if (type === 'checkbox' || type === 'radio' || BUTTON_TYPES.has(type) || type === 'file') return undefined;
    return isProtected(el, tag) ? '' : VALUE.input(el);
  }
  if (tag === 'textarea') return isProtected(el, tag) ? '' : VALUE.textarea(el);
  return attribute(el, 'aria-valuetext') || attribute(el, 'aria-valuenow') || undefined;
}

function transformed(text, style) {
  if (style.textTransform === 'uppercase') return text.toUpperCase();
  if (style.textTransform === 'lowercase') return text.toLowerCase();
  return style.textTransform === 'capitalize' ? text.replace(/(^|\s)(\p{L})/gu, (all) => all.toUpperCase()) : text;
}

// What a style puts before or after the content.
function generated(el, where) {
  const style = styleOf(el, where);
  const content = style.content;
  if (!content || content === 'none' || content === 'normal') return '';
  const slash = content.lastIndexOf(' / ');
  const told = slash > 0 ? content.slice(slash + 3) : content;
  const words = told.match(/"(?:[^"\\]|\\.)*"|attr\([\w-]+\)|open-quote|close-quote/g) || [];
  const text = words.map((word) => {
    if (word === 'open-quote') return '\u201c';
    if (word === 'close-quote') return '\u201d';
    if (word.startsWith('attr(')) return attribute(el, word.slice(5, -1)) || '';
    return word.slice(1, -1).replace(/\\(.)/g, '$1');
  });
  const apart = slash > 0 || style.display !== 'inline';
  return apart ? ' ' + text.join('') + ' ' : text.join('');
}

function contentText(el, tag, of) {
  const parts = [];
  let length = 0;
  const own = styleOf(el);
  const add = (text) => {
    if (length < COMPARE_CHARS) parts.push(text);
    length += text.length;
  };
  if (tag.includes(':') === false) add(generated(el, '::before'));
  eachChild(el, (child) => {
    if (length >= COMPARE_CHARS) return;
    const type = G.nodeType(child);
    if (type === TEXT) {
      if (of.hidden || own.visibility === 'visible') add(transformed(G.data(child), own));
      return;
    }
    if (type !== ELEMENT || child === of.but) return;
    const inner = tagOf(child);
    if (inner === 'br') return add(' ');
    const style = styleOf(child);
    if (NO_CONTENT.has(inner) || (!of.hidden && (style.display === 'none' || isTrue(child, 'aria-hidden')))) return;
    const part = nameText(child, inner, { ...of, inside: true, level: of.level + 1 });
    const apart = part.given || of.hidden || inner === 'slot' || (style.display !== 'inline' && style.display !== 'contents');
    add(apart ? ' ' + part.text + ' ' : edged(child, part.text));
  });
  if (tag.includes(':') === false) add(generated(el, '::after'));
  return parts.join('');
}

// White space at the edges of what stands in a line parts words there.
function edged(el, text) {
  const whole = G.textContent(el) || '';
  return (/^\s/.test(whole) ? ' ' : '') + text + (/\s$/.test(whole) ? ' ' : '');
}

if (!COMPUTED) {
  G.computedRole = fallbackRole;
  G.computedName = fallbackName;
}
