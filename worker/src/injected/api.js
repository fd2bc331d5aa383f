// The one door: `glass.call(method, args, handles)`. Answers are plain JSON; failures are {error: {kind, …}}.

const METHODS = {
  info: () => {
    const active = activeElement();
    return {
      url: cutChars(withoutData(G.URL(doc)), 4096).toWellFormed(),
      title: shown(G.title(doc)),
      readyState: G.readyState(doc),
      scroll: [win.scrollX, win.scrollY],
      viewport: [win.innerWidth, win.innerHeight],
      dpr: win.devicePixelRatio,
      zoom: win.visualViewport ? win.visualViewport.scale : 1,
      hasFocus: M.hasFocus(doc),
      focusedRef: active ? refOf(active) : null,
      contentType: G.contentType(doc),
      opener: win.opener !== null,
    };
  },
  frame: labelFrame,
  framesIn,
  frameIn,
  hitFrame,
  frameVisible,
  frameScroll,
  hosts: possibleHosts,
  hosting: () => ({ some: possibleHosts({ limit: 1 }) !== null || plainElements({ limit: 1, peek: true }) !== null }),
  closedRoot: takeClosedRoots,
  plain: plainElements,
  listening: takeListeners,
  internalHosts,
  internals: takeInternals,
  check,
  delta,
  reconcile,
  rediscover,
  observe,
  text: readText,
  html: serialize,
  dom: readDom,
  marksSecrets,
  locate,
  inspect,
  consent,
  sight,
  regionChanged,
  prepare,
  arm,
  disarm,
  settle,
  caret,
  compareTyped,
  selectPart,
  checkedState,
  listState,
  optionRefs,
  madeOptions,
  madeState,
  formState,
  formAfter,
  pointState,
  dropPoint,
  scrollPlan,
  watchPanes,
  movedPanes,
  intoView,
  focus: focusOn,
  selectAll,
  setNative,
  value: compareValue,
  remember,
  hasText,
  cancelWait,
  node: (args) => required(args).el,
  fileNode: (args) => fileInputOf(required(args).el),
  fileInput,
  filesHeld,
};

function failureAnswer(error) {
  if (error instanceof Failure) return { error: error.answer };
  // Our own fault. Where it happened helps; what the page's strings were does not.
  const where = /at (\S+) \(/.exec(String(error?.stack || ''));
  return {
    error: {
      kind: 'engine',
      detail: String(error?.name || 'Error').slice(0, 64),
      at: where ? where[1].slice(0, 64) : '',
    },
  };
}

// A caller's absent values may come as null.
function given(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const kept = {};
  for (const [key, inner] of Object.entries(value)) if (inner !== null) kept[key] = given(inner);
  return kept;
}

function call(name, args, handles) {
  try {
    const run = Object.hasOwn(METHODS, name) ? METHODS[name] : null;
    if (!run) throw new Failure('unknown_method', {});
    const answer = run(given(args || {}), handles || []);
    return answer instanceof Promise ? answer.catch(failureAnswer) : answer;
  } catch (error) {
    return failureAnswer(error);
  }
}

// A window that is used again for its next document (an initial empty one) keeps this world; the engine is made anew.
Object.defineProperty(globalThis, 'glass', {
  value: Object.freeze({ call, version: VERSION, made: doc }),
  configurable: true,
  enumerable: false,
});
