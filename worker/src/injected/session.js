// What the worker tells an engine about its place in the session, and asks of it beside the page.

// The first ref of this document: a main frame's numbers go on where the last document's ended, so that a ref of an
// old document can never name a node of this one.
METHODS.begin = (args) => {
  lastRef = Math.max(lastRef, Math.max(1, Number(args.base) || 1) - 1);
  return { ok: true, bound: Object.hasOwn(globalThis, 'glassReport') };
};

// Waits until fonts that are loading are there, at most `timeoutMs`. → whether some are still loading.
METHODS.fonts = (args) => {
  const fonts = G.fonts(doc);
  if (!fonts || G.fontStatus(fonts) !== 'loading') return { pending: false };
  return new Promise((done) => {
    const end = () => {
      clearTimer(timer);
      done({ pending: G.fontStatus(fonts) === 'loading' });
    };
    const timer = setTimer(end, args.timeoutMs);
    G.fontsReady(fonts).then(end, end);
  });
};

// How often something in this document has scrolled so far. Scrolling in a shadow tree is told inside it only.
let scrolls = 0;
METHODS.scrolls = () => ({ count: scrolls });

function watchScrolls(root) {
  M.addEventListener(root, 'scroll', () => (scrolls += 1), { capture: true, passive: true, signal: LISTENING });
}

// Takes back what the engine listens with, for a document that outlives the session. It is not called any more.
METHODS.retire = () => {
  armed = null;
  observer.disconnect();
  endListening();
  for (const end of Array.from(waits.values())) end();
  return { ok: true };
};

METHODS.last = () => ({ last: lastRef });

// Resolves when something happened in this document, at the next frame; or after a tenth of a second, for what tells
// nobody. The worker looks at its condition then.
METHODS.change = (args) => {
  const id = String(args.id);
  if (waits.has(id)) throw new Failure('bad_argument', { detail: 'id' });
  return new Promise((done) => {
    let frame = 0;
    const end = (ok) => {
      clearTimer(timer);
      offFrame(frame);
      watchers.delete(wake);
      for (const type of WAKE_EVENTS) M.removeEventListener(win, type, wake, { capture: true });
      waits.delete(id);
      done({ ok });
    };
    const wake = () => {
      if (frame === 0) frame = onFrame(() => end(true));
    };
    const timer = setTimer(() => end(true), Math.max(1, Math.min(LOOK_EVERY, args.timeoutMs ?? LOOK_EVERY)));
    waits.set(id, () => end(false));
    watchers.add(wake);
    for (const type of WAKE_EVENTS) M.addEventListener(win, type, wake, { capture: true, passive: true });
  });
};
