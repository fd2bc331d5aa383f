// Forms: what submits one, whether the page saw a submit event, and which field keeps it from one.

const submits = new WeakMap();
const countSubmit = (event) => {
  const form = event.composedPath()[0];
  if (event.isTrusted && isElement(form)) submits.set(form, (submits.get(form) || 0) + 1);
};

const formOf = (el) => {
  const tag = tagOf(el);
  if (tag === 'form') return el;
  const field = tag === 'label' ? G.control(el) || el : el;
  const owner = FORM[tagOf(field)];
  return (owner && owner(field)) || nearest(field, (node) => tagOf(node) === 'form');
};

const isSubmitter = (el) =>
  (tagOf(el) === 'button' && BUTTON_TYPE(el) === 'submit') ||
  (tagOf(el) === 'input' && (G.type(el) === 'submit' || G.type(el) === 'image'));

// The form of an element, its default button, or the first field that Enter can be pressed in.
function formState(args) {
  const { el } = required(args);
  const form = formOf(el);
  if (!form) return { none: true };
  // document.open() removes listeners; adding one that is there does nothing.
  M.addEventListener(win, 'submit', countSubmit, { capture: true, passive: true, signal: LISTENING });
  submits.set(form, 0);
  const all = Array.from(FORM_ELEMENTS(form));
  const own = isSubmitter(el) ? el : null;
  const button = own || all.find((one) => isSubmitter(one)) || null;
  const field = all.find((one) => tagOf(one) === 'input' && TEXT_TYPES.has(G.type(one)) && isVisible(one));
  return {
    form: refOf(form),
    button: button ? refOf(button) : null,
    off: Boolean(button) && M.matches(button, ':disabled'),
    field: field ? refOf(field) : null,
  };
}

// How often the form was submitted since, and the first field that does not fit.
function formAfter(args) {
  const { el: form } = required(args);
  const wrong = Array.from(FORM_ELEMENTS(form)).find((one) => M.matches(one, ':invalid'));
  return { submits: submits.get(form) || 0, invalid: wrong ? describe(wrong) : null };
}

// What lies at a point of this document's viewport, or the frame that does.
function pointState(args) {
  const { width, height } = viewport();
  const hit = hitAt(args.x, args.y);
  return { inside: args.x >= 0 && args.y >= 0 && args.x < width && args.y < height, found: hit ? describeCover(hit) : null };
}

// The middle and the size of what can be seen of an element, whatever lies over it; scrolled to when nothing is seen.
function dropPoint(args) {
  const { el } = required(args);
  const seen = () =>
    areas(el)
      .map((rect) => clipRect(el, rect))
      .find(Boolean);
  let rect = seen();
  if (!rect) {
    M.scrollIntoView(el, { behavior: 'instant', block: 'center', inline: 'nearest' });
    rect = seen();
  }
  return rect ? { point: middle(rect), size: [rect.right - rect.left, rect.bottom - rect.top] } : { point: null };
}
