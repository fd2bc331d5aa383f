// Rows: which elements become lines of the outline, and what each says. Part of `Walk`.

const PICTURES = new Set(['img', 'figure', 'canvas']);
// A picture that nobody named may be what the page is about, such as a captcha, a code or a map.
const PICTURE_TAGS = new Set(['img', 'canvas', 'video', 'svg:svg']);
const PICTURE_SIDE = 32;
const PICTURE_AREA = 4096;
const isLargePicture = (el, tag) => {
  if (!PICTURE_TAGS.has(tag) || attribute(el, 'alt') === '') return false;
  const { width, height } = box(el);
  return Math.min(width, height) >= PICTURE_SIDE && width * height >= PICTURE_AREA;
};
const HIDDEN_TEXT = '\u0001';

Object.assign(Walk.prototype, {
  // A row for this element, or null. It is filled in by `close`, when its content was walked.
  open(el, fact, given, context, fresh) {
    const role = fact.role;
    let kind = fact.kind;
    if (fact.tag === 'input' && G.type(el) === 'hidden') return null;
    if (fact.tag === 'label') return null;
    if (kind === '' || kind === 'named') {
      const clickable =
        fact.marked || role === 'textbox' || (fact.pointer && !given.pointer && !given.control && !isRoot(el));
      if (clickable && !(fact.tag === 'body' || fact.tag === 'html')) kind = 'clickable';
    }
    if (kind === '') return null;
    if (this.stood.has(el)) return null;
    // What a person sees and uses is told although assistive tools do not see it; pictures there are decoration.
    if (context.ariaHidden && PICTURES.has(role) && !frameLabels.has(el)) return null;
    if (kind === 'control' || kind === 'clickable' || role === 'frame' || frameLabels.has(el)) {
      if (fresh || !fact.painted) fact.painted = fact.tag === 'area' || painted(el) || visibleLabels(el).length > 0;
      if (!fact.painted) return null;
    }
    if (kind === 'clickable' && !role) fact.role = rowRole(el, fact.tag);
    return this.add(el, fact, given, context, kind);
  },

  add(el, fact, given, context, kind) {
    const row = {
      el,
      kind,
      role: fact.role,
      name: '',
      fact,
      parent: given.row,
      depth: 0,
      states: '',
      held: 0,
      last: 0,
      dropped: false,
      inert: context.inert,
      left: context.left,
      ariaHidden: context.ariaHidden,
      disabled: context.disabled,
      value: undefined,
    };
    this.rows.push(row);
    row.index = this.rows.length;
    return row;
  },

  close(row, fact, from, fresh, inert) {
    row.held = this.rows.length - row.index;
    const el = row.el;
    const role = row.role;
    const textual = CONTENT_NAMED.has(role) || row.kind === 'clickable' || role === 'alert' || role === 'status';
    const text = textual ? this.textSince(from) : undefined;
    const custom = fact.tag.includes('-') || (fact.external && this.renames);
    const renamed = fresh || fact.nameStale || fact.name === undefined || custom || (textual && fact.text !== text);
    if (renamed) {
      const content = role === 'generic' || row.kind === 'clickable' || role === 'row' || inert ? text : undefined;
      const indexed = this.labels ? indexedName(el, fact.tag, this.labels) : undefined;
      fact.name = indexed ?? rowName(el, fact.tag, role, row.kind, content, inert);
      fact.text = text;
      fact.nameStale = false;
    }
    if (role === 'alert' || role === 'status') row.value = text || undefined;
    if (this.superfluous(row, fact, text)) {
      row.dropped = true;
      return;
    }
    this.finish(row, fact, fact.name, renamed);
  },

  // Rows that would say nothing: unnamed groups, empty headings, tables and lists that hold nothing.
  superfluous(row, fact, text) {
    const name = fact.name;
    const role = row.role;
    if (frameLabels.has(row.el)) return false;
    if (role === 'heading') return name === '';
    if (row.kind === 'named')
      return name === '' && ((row.parent !== null && isActive(row.parent)) || !isLargePicture(row.el, fact.tag));
    if (role === 'alert' || role === 'status') return !text && row.held === 0;
    if (role === 'row') return row.held === 0;
    if (role === 'list' || role === 'feed') return !(name !== '' || (row.held >= 20 && childCount(row.el, 'li') >= 20));
    if (row.kind === 'holder') return name === '' && row.held === 0 && tableRows(row.el, fact.tag) < 2;
    // A clickable wrapper that is all one control is that control's padding.
    if (row.kind === 'clickable' && role !== 'textbox') {
      const inner = this.rows.slice(row.index, row.index + 4).filter((other) => !other.dropped);
      return (
        row.held <= 3 &&
        inner.length === 1 &&
        inner[0].kind === 'control' &&
        comparable(inner[0].name) === comparable(text || '')
      );
    }
    return false;
  },

  finish(row, fact, name, fresh) {
    row.name = name;
    const el = row.el;
    if (fresh || fact.states === undefined) {
      const tag = fact.tag;
      fact.states = statesOf(el, tag, row.role).join(',');
      fact.secret = isProtected(el, tag);
      fact.value = valueOf(el, tag, row.role);
      if (fact.value !== undefined) fact.value = String(fact.value);
      fact.validity = MESSAGE[tag] && M.matches(el, ':invalid') ? digest(MESSAGE[tag](el)) : '';
      fact.level = row.role === 'heading' || row.role === 'treeitem' ? levelOf(el, tag) : 0;
      fact.options = tag === 'select' ? G.options(el).length : 0;
      const state = fact.states;
      const value = fact.secret
        ? HIDDEN_TEXT + digest(fact.value || '')
        : cutChars(fact.value || '', COMPARE_CHARS * 8);
      fact.base =
        row.role +
        '\u0001' +
        name +
        '\u0001' +
        state +
        '\u0001' +
        value +
        '\u0001' +
        fact.validity +
        fact.level +
        '/' +
        fact.options;
    }
    if (row.value === undefined && !fact.secret) row.value = fact.value;
    let states = fact.states;
    if (row.kind === 'clickable' && row.role !== 'textbox') states = states ? states + ',clickable' : 'clickable';
    if (row.disabled && !states.includes('disabled')) states = states ? 'disabled,' + states : 'disabled';
    if (row.inert) states = states ? states + ',inert' : 'inert';
    if (el === this.focus) states = states ? states + ',focused' : 'focused';
    row.states = states;
    row.sig = fact.base + '\u0001' + states + (row.role === 'alert' || row.role === 'status' ? row.value : '');
  },

  // Drops superfluous rows and sets depth, parent and the end of each row's descendants.
  settle() {
    const rows = this.rows.filter((row) => !row.dropped);
    rows.forEach((row, at) => {
      while (row.parent && row.parent.dropped) row.parent = row.parent.parent;
      row.depth = row.parent ? row.parent.depth + 1 : 0;
      row.index = at;
      row.last = at;
      // Told once, where it begins.
      if (row.ariaHidden && !row.parent?.ariaHidden) {
        row.states = row.states ? row.states + ',aria-hidden' : 'aria-hidden';
        row.sig += '\u0001aria-hidden';
      }
    });
    for (let at = rows.length - 1; at >= 0; at--) {
      const outer = rows[at].parent;
      if (outer && outer.last < rows[at].last) outer.last = rows[at].last;
    }
    this.rows = rows;
    return this;
  },
});

// `inert`: whether Chromium leaves the element out of its tree, as far as the caller knows it.
function rowName(el, tag, role, kind, text, inert) {
  if (role === 'textbox' && isEditingHost(el)) return G.computedName(el) || plainName(el, tag, 'textbox');
  if (role === 'frame') return G.computedName(el) || attribute(el, 'title') || attribute(el, 'name') || '';
  if (role === 'row' && !inert) return G.computedName(el) || cutChars(text || '', NAME_CHARS * 4);
  const name = nameOf(el, tag, role, text, inert === undefined ? undefined : !inert);
  return name === '' && kind === 'clickable' ? cutChars(text || '', NAME_CHARS * 4) : name;
}

// Name of any element as its row would have it, read now and not from what the walk keeps. Inert elements have no
// computed name: there the last one that was read is better than one made up.
function freshName(el, tag, role) {
  const fact = facts.get(el);
  if (!G.isConnected(el)) return fact?.name || '';
  const kind = kindOf(role);
  if (role === 'generic' || role === 'row' || kind === '') return rowName(el, tag, role, 'clickable', innerTextOf(el));
  if (!rendered(el) && visibleLabels(el).length > 0) return plainName(el, tag, role);
  if (G.computedName(el) === '' && fact && fact.name && !fact.stale && !fact.nameStale && isInert(el)) return fact.name;
  return rowName(el, tag, role, kind);
}

const childCount = (el, tag) => M.queryAll(el, ':scope > ' + tag).length;

function tableRows(el, tag) {
  const given = Number.parseInt(attribute(el, 'aria-rowcount') || '', 10);
  if (given > 0) return given;
  return tag === 'table' ? G.rows(el).length : M.queryAll(el, '[role=row],tr,[role=listitem],li').length;
}
