// Solid: fine-grained signals, delegated events.
import { For } from 'solid-js';
import { createStore } from 'solid-js/store';
import { render } from 'solid-js/web';

const [state, set] = createStore({ name: '', notes: '', land: 'no', terms: false, items: ['Milk'], sent: 0 });
window.state = state;

function Form() {
  let item;
  return (
    <form onSubmit={(event) => { event.preventDefault(); set('sent', (sent) => sent + 1); }}>
      <label>Name <input value={state.name} onInput={(event) => set('name', event.currentTarget.value)} /></label>
      <label>Notes <textarea value={state.notes} onInput={(event) => set('notes', event.currentTarget.value)} /></label>
      <label>Land <select value={state.land} onChange={(event) => set('land', event.currentTarget.value)}><option value="no">Norway</option><option value="se">Sweden</option></select></label>
      <label><input type="checkbox" checked={state.terms} onChange={(event) => set('terms', event.currentTarget.checked)} /> I accept</label>
      <label>Item <input ref={item} /></label>
      <button type="button" onClick={() => { set('items', (items) => [...items, item.value]); item.value = ''; }}>Add</button>
      <ul><For each={state.items}>{(item) => <li>{item} <button type="button" aria-label={`Remove ${item}`} onClick={() => set('items', (items) => items.filter((one) => one !== item))}>x</button></li>}</For></ul>
      <button>Send</button>
    </form>
  );
}

render(() => <Form />, document.getElementById('root'));
