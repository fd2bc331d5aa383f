/** @jsxImportSource preact */
// Preact: its own events, `onInput` and `onChange` as the browser has them.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

function Form() {
  const [state, put] = useState({ name: '', notes: '', land: 'no', terms: false, plan: 'a', digits: '', sent: 0 });
  const set = (change) => put((old) => ({ ...old, ...change }));
  useEffect(() => { window.state = state; });
  return (
    <form onSubmit={(event) => { event.preventDefault(); set({ sent: state.sent + 1 }); }}>
      <label>Name <input value={state.name} onInput={(event) => set({ name: event.target.value })} /></label>
      <label>Notes <textarea value={state.notes} onInput={(event) => set({ notes: event.target.value })} /></label>
      <label>Digits <input value={state.digits} onInput={(event) => { const digits = event.target.value.replace(/\D/g, ''); event.target.value = digits; set({ digits }); }} /></label>
      <label>Land <select value={state.land} onChange={(event) => set({ land: event.target.value })}><option value="no">Norway</option><option value="se">Sweden</option></select></label>
      <label><input type="checkbox" checked={state.terms} onChange={(event) => set({ terms: event.target.checked })} /> I accept</label>
      {['a', 'b'].map((plan) => <label key={plan}><input type="radio" name="plan" checked={state.plan === plan} onChange={() => set({ plan })} /> Plan {plan.toUpperCase()}</label>)}
      <button>Send</button>
    </form>
  );
}

render(<Form />, document.getElementById('root'));
