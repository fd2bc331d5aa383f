// Posts every input event of the page, in the capture phase at the window, before any handler of the page runs.
// Synchronous on purpose: an event that was handled is an event that was reported. Everything used is taken at the
// start, since some pages replace it.
(() => {
  const Request = XMLHttpRequest;
  const { open, send } = Request.prototype;
  const stringify = JSON.stringify;
  const url = document.currentScript.src.replace(/ledger\.js.*$/, 'ledger');
  const kinds = ['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu',
    'keydown', 'input', 'change', 'submit'];
  const report = (event) => {
    const path = event.composedPath();
    const found = path.find((node) => node instanceof Element && node.getAttribute('id'));
    const value = path[0] && typeof path[0].value === 'string' ? path[0].value : '';
    const held = ['Control', 'Alt', 'Shift', 'Meta'].filter((name) => event.getModifierState?.(name)).join('+');
    const request = new Request();
    open.call(request, 'POST', url, false);
    send.call(request, stringify({
      type: event.type,
      id: found ? found.getAttribute('id') : '',
      value,
      key: event.key ?? String(event.button ?? ''),
      held,
      trusted: event.isTrusted,
    }));
  };
  for (const kind of kinds) addEventListener(kind, report, true);
})();
