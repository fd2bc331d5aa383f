// The document as it may be read in an answer: HTML or a tree, bounded, without script and style, passwords masked.

const UNTOLD = new Set(['script', 'style', 'noscript', 'template', 'svg:script', 'svg:style']);
const ATTRIBUTE_CHARS = 256;
const FREE = new Set(['id', 'class']);

// → {dom, elements, textBytes, untold, frames}: what was told, and of what was not: elements, bytes of text, scripts and
// styles, and the frames, whose documents are read by themselves.
function readDom(args) {
  const scope = args.scopeRef === undefined ? null : required({ ref: args.scopeRef, asOf: args.asOf }).el;
  const out = new DomText(args.format === 'tree', args.maxBytes, args.values !== false);
  if (scope) out.element(scope, 0);
  else for (let n = G.firstChild(doc); n; n = G.nextSibling(n)) out.node(n, 0, false);
  return {
    dom: out.parts.join('').toWellFormed(),
    elements: out.elements,
    textBytes: out.textBytes,
    untold: out.untold,
    frames: out.frames,
  };
}

class DomText {
  constructor(tree, max, values) {
    this.tree = tree;
    this.left = max;
    this.values = values;
    this.parts = [];
    this.full = false;
    this.elements = 0;
    this.textBytes = 0;
    this.untold = 0;
    this.frames = [];
  }

  // Takes the text if there is room for it and for `after`, which has to follow.
  put(text, after = 0) {
    const size = utf8Length(text);
    if (this.full || size + after > this.left) {
      this.full = true;
      return false;
    }
    this.left -= size;
    this.parts.push(text);
    return true;
  }

  node(n, level, pre) {
    const type = G.nodeType(n);
    if (type === TEXT) this.text(n, level, pre);
    else if (type === ELEMENT) this.element(n, level);
  }

  text(n, level, pre) {
    const data = withoutData(G.data(n));
    if (this.tree) {
      const told = collapse(data);
      if (told === '') return;
      const cut = cutChars(told, NAME_CHARS);
      const more = cut.length < told.length ? ` (${told.length} characters)` : '';
      if (!this.put('  '.repeat(level) + JSON.stringify(cut) + more + '\n')) this.textBytes += utf8Length(told);
      return;
    }
    const told = pre ? data : data.replace(/\s+/g, ' ');
    const safe = escaped(told);
    if (this.put(safe)) return;
    const cut = cutBytes(told, Math.max(0, this.left >> 3));
    this.parts.push(escaped(cut));
    this.left = 0;
    this.textBytes += utf8Length(told) - utf8Length(cut);
  }

  element(el, level) {
    const tag = tagOf(el);
    if (UNTOLD.has(tag)) {
      this.untold += 1;
      return;
    }
    const name = G.localName(el);
    const given = frameLabels.get(el);
    const attributes = this.attributesOf(el, tag);
    const isVoid = VOID.has(tag);
    const indent = '  '.repeat(level);
    const head = this.tree
      ? indent + name + this.names(el) + attributes + (given ? ` [${given}]` : '') + '\n'
      : '<' + name + attributes + '>';
    const tail = this.tree || isVoid ? '' : '</' + name + '>';
    if (level >= MAX_LEVELS || !this.put(head, tail.length)) {
      this.elements += 1 + M.queryAll(el, '*').length;
      return;
    }
    // Room for what closes it is kept from the beginning.
    this.left -= tail.length;
    if (given) {
      this.frames.push(given);
      if (!this.tree) this.put(`<!-- frame ${given} -->`);
    }
    if (!isVoid) this.content(el, tag, level + 1);
    this.parts.push(tail);
  }

  content(el, tag, level) {
    if (tag === 'textarea') {
      if (!this.tree && this.values && !isProtected(el, tag)) this.put(escaped(withoutData(VALUE.textarea(el))));
      return;
    }
    const root = shadowOf(el);
    const pre = tag === 'pre';
    if (root) {
      const mode = G.mode(root);
      const tail = this.tree ? '' : '</template>';
      const head = this.tree ? '  '.repeat(level) + `#shadow-root (${mode})\n` : `<template shadowrootmode="${mode}">`;
      if (this.put(head, tail.length)) {
        this.left -= tail.length;
        for (let child = G.firstChild(root); child; child = G.nextSibling(child)) this.node(child, level + 1, false);
        this.parts.push(tail);
      } else this.elements += M.queryAll(root, '*').length;
    }
    for (let child = G.firstChild(el); child; child = G.nextSibling(child)) this.node(child, level, pre);
  }

  // In a tree `#id` and classes stand at the name.
  names(el) {
    const id = collapse(attribute(el, 'id') || '');
    const classes = collapse(cutChars(attribute(el, 'class') || '', ATTRIBUTE_CHARS)).replaceAll(' ', '.');
    return (id ? '#' + cutChars(id, ATTRIBUTE_CHARS) : '') + (classes ? '.' + classes : '');
  }

  // Values as they are now where values are told; no handlers, no script addresses, no styles, no secrets.
  attributesOf(el, tag) {
    const secret = isProtected(el, tag);
    const typed = tag === 'input' && !['checkbox', 'radio'].includes(G.type(el)) && !BUTTON_TYPES.has(G.type(el));
    const chosen = tag === 'input' && (G.type(el) === 'checkbox' || G.type(el) === 'radio');
    let out = '';
    const add = (name, value) => {
      const told = cutChars(withoutData(value), ATTRIBUTE_CHARS);
      const more = told.length < value.length && !value.startsWith('data:') ? `…(${value.length} characters)` : '';
      out += value === '' ? ' ' + name : ` ${name}="${escaped(told + more)}"`;
    };
    for (const name of M.getAttributeNames(el)) {
      if (/^on/i.test(name) || name === 'nonce' || name === 'srcdoc' || name === 'style') continue;
      if (this.tree && FREE.has(name)) continue;
      if ((typed || secret) && name === 'value') continue;
      if (chosen && name === 'checked') continue;
      if (tag === 'option' && name === 'selected') continue;
      const value = attribute(el, name) || '';
      if (/^[\s\u0000-\u0020]*javascript:/i.test(value)) continue;
      add(name, value);
    }
    if (secret) out += this.tree ? ' (masked)' : ' value="(masked)"';
    else if (this.values) {
      if (typed && G.type(el) !== 'file' && VALUE.input(el) !== '') add('value', VALUE.input(el));
      if (this.tree && tag === 'textarea' && VALUE.textarea(el) !== '') add('value', VALUE.textarea(el));
      if (chosen && G.checked(el)) out += ' checked';
      if (tag === 'option' && G.selected(el)) out += ' selected';
    }
    return out;
  }
}
