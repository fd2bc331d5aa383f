// The document as HTML text, as it is now and without scripts: for files, not for reading in an answer.

const VOID = new Set(
  'area,base,br,col,embed,hr,img,input,link,meta,source,track,wbr'.split(','),
);
const RAW = new Set(['style', 'xmp', 'plaintext', 'noframes']);
const LEFT_OUT = new Set(['script', 'noscript', 'svg:script']);
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\u00a0': '&nbsp;' };
const escaped = (text) => text.replace(/[&<>"\u00a0]/g, (letter) => ESCAPES[letter]);

// → {html} | {tooLarge: true}; what is typed into controls is in it, but for passwords and one-time codes.
function serialize(args) {
  const out = { parts: [], length: 0, max: args.maxChars };
  const put = (text) => {
    out.length += text.length;
    if (out.length > out.max) throw new Failure('too_large', {});
    out.parts.push(text);
  };
  try {
    if (G.contentType(doc) === 'text/html') put('<!doctype html>\n');
    for (let n = G.firstChild(doc); n; n = G.nextSibling(n)) serializeNode(n, put, 0);
  } catch (error) {
    if (error instanceof Failure && error.answer.kind === 'too_large') return { tooLarge: true };
    throw error;
  }
  return { html: out.parts.join('').toWellFormed() };
}

function serializeNode(n, put, level) {
  const type = G.nodeType(n);
  if (type === TEXT) put(escaped(G.data(n)));
  if (type !== ELEMENT) return;
  const tag = tagOf(n);
  if (LEFT_OUT.has(tag)) return;
  const name = G.localName(n);
  put('<' + name);
  serializeAttributes(n, tag, put);
  put('>');
  if (VOID.has(tag)) return;
  if (tag === 'textarea') put(isProtected(n, tag) ? '' : escaped(VALUE.textarea(n)));
  else if (RAW.has(tag)) {
    const text = G.textContent(n) || '';
    if (!text.includes('</')) put(text);
  } else if (level < MAX_LEVELS) {
    const root = shadowOf(n);
    if (root) {
      put('<template shadowrootmode="open">');
      for (let child = G.firstChild(root); child; child = G.nextSibling(child)) serializeNode(child, put, level + 1);
      put('</template>');
    }
    for (let child = G.firstChild(n); child; child = G.nextSibling(child)) serializeNode(child, put, level + 1);
  }
  put('</' + name + '>');
}

// Values as they are now; no handlers, no script addresses.
function serializeAttributes(el, tag, put) {
  const typed = tag === 'input' && TEXT_TYPES.has(G.type(el));
  const chosen = tag === 'input' && (G.type(el) === 'checkbox' || G.type(el) === 'radio');
  const secret = isProtected(el, tag);
  for (const name of M.getAttributeNames(el)) {
    if (/^on/i.test(name) || name === 'nonce') continue;
    if (name === 'srcdoc') continue;
    if ((typed || secret) && name === 'value') continue;
    if (chosen && name === 'checked') continue;
    if (tag === 'option' && name === 'selected') continue;
    const value = attribute(el, name) || '';
    if (/^[\s\u0000-\u0020]*javascript:/i.test(value)) continue;
    put(' ' + name + '="' + escaped(value) + '"');
  }
  if (typed && !secret && VALUE.input(el) !== '') put(' value="' + escaped(VALUE.input(el)) + '"');
  if (chosen && G.checked(el)) put(' checked');
  if (tag === 'option' && G.selected(el)) put(' selected');
}

// Does the markup itself hold a password or a one-time code? Some pages keep what is typed in the attribute.
function marksSecrets() {
  const fields = [doc, ...shadowRootsIn(doc, hosts)].flatMap((root) => Array.from(M.queryAll(root, 'input')));
  return { some: fields.some((el) => isProtected(el, tagOf(el)) && (attribute(el, 'value') || '') !== '') };
}
