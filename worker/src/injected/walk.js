// One pass over the flat tree that yields rows and visible text. What it learnt of an element is kept in `facts`.

const MAX_LEVELS = 900;
const MAX_TEXT = 16 << 20;

class Walk {
  // `fresh` reads everything anew; `rows: false` collects text only; `limit` ends the text there.
  constructor({ fresh = false, rows = true, limit = MAX_TEXT, names = false, labels = null }) {
    this.fresh = fresh;
    this.wantRows = rows;
    this.limit = limit;
    this.renames = names;
    this.labels = labels;
    this.rows = [];
    this.parts = [];
    this.length = 0;
    this.gap = 0;
    this.tooDeep = 0;
    this.modal = rows ? modalDialog() : null;
    this.focus = rows ? activeElement() : null;
    this.stood = new Set();
    this.probes = [];
    this.custom = [];
    this.probed = null;
  }

  start(n) {
    if (n === doc) {
      const root = G.documentElement(doc);
      if (root) this.visit(root, this.context(null), 0);
    } else this.visit(n, this.context(n), 0);
    return this;
  }

  // What the ancestors of a partial walk's start impose on it.
  context(el) {
    const none = {
      row: null,
      pointer: false,
      control: false,
      ariaHidden: false,
      inert: this.modal !== null,
      disabled: false,
      cut: 0,
      clip: 0,
      deep: this.fresh,
      left: false,
    };
    const parent = el && this.wantRows ? flatParent(el) : null;
    if (!parent) return none;
    const modal = this.modal;
    return {
      ...none,
      pointer: styleOf(parent).cursor === 'pointer',
      inert: isInert(parent) && !(modal && inside(el, modal)),
      left: Boolean(nearest(parent, (node) => M.hasAttribute(node, 'inert'))),
      ariaHidden: Boolean(nearest(parent, (node) => isTrue(node, 'aria-hidden'))),
      disabled: Boolean(nearest(parent, (node) => isTrue(node, 'aria-disabled'))),
      clip: cutAway(el) ? 2 : 0,
    };
  }

  visit(el, given, level) {
    const fact = factOf(el);
    const tag = fact.tag;
    if (NEVER.has(tag)) return;
    let unseen = false;
    const shownAs = rendered(el);
    if (tag === 'area') {
      if (!M.hasAttribute(el, 'href') || !isVisible(el)) return;
    } else if (!shownAs) {
      const style = styleOf(el);
      if (style.visibility !== 'visible' && style.display !== 'none') unseen = true;
      else if (style.display !== 'contents') {
        this.probes.push({ el, was: false });
        return;
      }
    }
    const deep = given.deep || fact.deep;
    const fresh = deep || fact.stale;
    if (fresh) learn(el, fact);
    const context = this.below(el, fact, given, deep);
    // Text alone leaves the marks to the walk that reads states and names.
    if (this.wantRows) fact.deep = false;
    const from = this.parts.length;
    if (fact.block) this.gap = 2;
    else if (fact.cell && this.gap === 0) this.gap = 1;
    let row = null;
    if (this.wantRows && !unseen && context.cut === 0)
      row = this.open(el, fact, given, context, fresh);
    if (row || unseen) this.probes.push({ el, was: shownAs });
    if (tag.includes('-')) this.custom.push(el);
    if (this.wantRows) fact.stale = false;
    const inner = row
      ? { ...context, row, control: context.control || row.kind === 'control' || row.kind === 'clickable' }
      : context;
    if (level >= MAX_LEVELS) this.tooDeep += 1;
    else if (tag === 'br') this.gap = 2;
    else if (!OPAQUE.has(tag) && !(tag === 'select' && fact.role !== 'listbox'))
      this.descend(el, fact, inner, unseen, level + 1);
    if (row) this.close(row, fact, from, fresh, context.inert || context.ariaHidden);
    if (fact.block) this.gap = 2;
    else if (fact.cell && this.gap === 0) this.gap = 1;
  }

  descend(el, fact, context, unseen, level) {
    const root = shadowOf(el);
    const assigned = !root && fact.tag === 'slot' ? M.assignedNodes(el) : null;
    if (assigned && assigned.length > 0) {
      for (const child of assigned) this.child(child, el, fact, context, unseen, level);
      return;
    }
    for (let child = G.firstChild(root || el); child; child = G.nextSibling(child))
      this.child(child, el, fact, context, unseen, level);
  }

  child(child, el, fact, context, unseen, level) {
    if (this.length >= this.limit && !this.wantRows) return;
    const type = G.nodeType(child);
    if (type === ELEMENT) this.visit(child, context, level);
    else if (type === TEXT && !unseen && context.clip === 0 && !context.left) this.text(child, el, fact);
  }

  // The context of an element's children: the same object unless the element changes it.
  below(el, fact, given, deep) {
    const cut = cutBy(fact, given.clip);
    const clip = cut !== 2 && fact.clips && isCollapsed(el) ? (fact.position === 'static' ? 1 : 2) : cut;
    const inert = el === this.modal ? fact.inert : given.inert || fact.inert;
    const left = el === this.modal ? fact.inert : given.left || fact.inert;
    const stands = fact.tag === 'label' && (this.wantRows ? this.standIn(el, fact, given) : false);
    const control = given.control || stands;
    const ariaHidden = given.ariaHidden || (fact.ariaHidden && !isRoot(el));
    const disabled = given.disabled || fact.ariaDisabled;
    const pointer = fact.pointer;
    if (
      clip === given.clip &&
      cut === given.cut &&
      inert === given.inert &&
      left === given.left &&
      control === given.control &&
      ariaHidden === given.ariaHidden &&
      disabled === given.disabled &&
      pointer === given.pointer &&
      deep === given.deep
    )
      return given;
    return { row: given.row, pointer, control, ariaHidden, inert, left, disabled, cut, clip, deep };
  }

  // A label whose control is not rendered stands for it: the control's row takes the label's place.
  standIn(el, fact, given) {
    const control = G.control(el);
    if (!control) return false;
    if (!rendered(control) && !this.stood.has(control)) {
      const own = factOf(control);
      if (own.stale || own.deep || given.deep) learn(control, own);
      if (own.tag === 'input' && G.type(control) !== 'hidden') {
        this.stood.add(control);
        const row = this.add(control, own, given, { ...given, inert: given.inert || own.inert }, 'control');
        this.finish(row, own, plainName(control, own.tag, own.role), true);
        own.stale = own.deep = false;
      }
    }
    return true;
  }

  text(textNode, el, fact) {
    const raw = G.data(textNode);
    if (!/\S/.test(raw)) {
      if (raw.length > 0 && this.gap === 0) this.gap = 1;
      return;
    }
    if (fact.textual === undefined) {
      const style = styleOf(el);
      const hidden = style.contentVisibility === 'hidden' || (fact.tag === 'details' && !M.hasAttribute(el, 'open'));
      fact.textual = hidden ? null : { transform: style.textTransform, pre: style.whiteSpace.startsWith('pre') };
    }
    if (fact.textual === null) return;
    if (this.probed !== el && fact.block) {
      this.probed = el;
      this.probes.push({ el, was: true });
    }
    let body;
    if (fact.textual.pre && raw.includes('\n')) body = raw.replace(/[^\S\n]+/g, ' ').replace(/ *\n */g, '\n');
    else body = /[^\S ]|  /.test(raw) ? raw.replace(SPACES, ' ') : raw;
    if (body[0] === ' ') {
      if (this.gap === 0) this.gap = 1;
      body = body.slice(1);
    }
    let after = 0;
    if (body.endsWith(' ')) {
      after = 1;
      body = body.slice(0, -1);
    }
    const transform = fact.textual.transform;
    if (transform === 'uppercase') body = body.toUpperCase();
    else if (transform === 'lowercase') body = body.toLowerCase();
    if (this.length < this.limit) {
      this.parts.push((this.gap === 2 ? '\n' : this.gap === 1 ? ' ' : '') + body);
      this.length += body.length + 1;
    }
    this.gap = after;
  }

  // The text of the parts since `from`, for names: the start of it, white space collapsed.
  textSince(from) {
    if (from === this.parts.length) return '';
    let text = '';
    for (let i = from; i < this.parts.length && text.length < COMPARE_CHARS; i++) text += this.parts[i];
    return collapse(text);
  }

  wholeText() {
    return this.parts.join('').trim();
  }
}

// How far a collapsed container cuts this element away: 0 not at all, 1 by one without a position of its own, which
// absolute children escape, 2 for good.
function cutBy(fact, clip) {
  if (clip === 0) return 0;
  const position = fact.position;
  if (position === 'fixed' || (clip === 1 && position === 'absolute')) return 0;
  return position === 'static' ? clip : 2;
}

function visibleText(el, limit = COMPARE_CHARS) {
  return new Walk({ rows: false, limit }).start(el).wholeText();
}
