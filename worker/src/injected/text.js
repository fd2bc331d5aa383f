// Text: normal forms, cutting, lengths and digests. Knows nothing of nodes.

const NAME_CHARS = 256;
const COMPARE_CHARS = 8192;
const LABEL_BYTES = 160;

// Soft hyphen, zero-width characters, joiners, direction marks, variation selectors, fillers, tags: they show nothing,
// so two names that differ only in them look alike (contract 4.2).
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;
// White space; U+FEFF is none here, since it shows nothing.
const SPACES = /[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+/g;
const DATA_URI = /data:[a-z0-9.+-]*\/?[a-z0-9.+-]*[;,][^\s"')<>]{32,}/gi;

// Cuts on a UTF-16 index without splitting a surrogate pair.
function cutChars(text, max) {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

const collapse = (text) => text.replace(SPACES, ' ').trim();

// What names and texts are compared by.
function comparable(text) {
  return collapse(cutChars(text, COMPARE_CHARS).normalize('NFC').replace(UNSEEN, ''));
}

const withoutData = (text) => (text.includes('data:') ? text.replace(DATA_URI, 'data:…') : text);

// A string of the page as it may stand in an answer.
function shown(text, max = NAME_CHARS) {
  if (text.length > max * 4 + 1024) text = text.slice(0, max * 4 + 1024);
  return cutChars(withoutData(collapse(text)), max).toWellFormed();
}

function utf8Length(text) {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

// The longest start of `text` that has at most `max` bytes of UTF-8.
function cutBytes(text, max) {
  if (text.length * 3 <= max) return text;
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const pair = unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length;
    const size = unit < 0x80 ? 1 : unit < 0x800 ? 2 : pair ? 4 : 3;
    if (bytes + size > max) return text.slice(0, i);
    bytes += size;
    if (pair) i++;
  }
  return text;
}

const label = (text) => cutBytes(shown(text, LABEL_BYTES), LABEL_BYTES);

// 64 bits of digest in two words; the seed is random per document, so that a digest says only "same" or "not".
const SEED = crypto.getRandomValues(new Uint32Array(2));

function digest(text) {
  let high = SEED[0];
  let low = SEED[1];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');
}

// Does `text` match a locator's value? Substrings ignore case, exact matches do not (contract 4.1, 4.2).
function matcher(value, match) {
  const wanted = comparable(String(value));
  if (match !== 'substring') return (text) => comparable(text) === wanted;
  const folded = wanted.toLowerCase();
  return (text) => comparable(text).toLowerCase().includes(folded);
}
