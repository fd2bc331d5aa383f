// React: every kind of control controlled by state, and the browser's own drag and drop.
import { useEffect, useReducer, useRef } from 'react';
import { createRoot } from 'react-dom/client';

const start = { name: '', notes: 'old', count: '', shout: '', day: '', level: '3', land: 'no', extras: [], terms: false, plan: 'a', order: ['One', 'Two', 'Three'], sent: 0 };

function Form() {
  const [state, set] = useReducer((old, change) => ({ ...old, ...change }), start);
  const dragged = useRef(null);
  useEffect(() => { window.state = state; });
  const field = (name) => ({ value: state[name], onChange: (event) => set({ [name]: event.target.value }) });
  const drop = (at) => {
    const rest = state.order.filter((item) => item !== dragged.current);
    rest.splice(at, 0, dragged.current);
    set({ order: rest });
  };
  return (
    <form onSubmit={(event) => { event.preventDefault(); set({ sent: state.sent + 1 }); }}>
      <label>Name <input {...field('name')} /></label>
      <label>Notes <textarea {...field('notes')} /></label>
      <label>Count <input type="number" {...field('count')} /></label>
      <label>Shout <input value={state.shout} onChange={(event) => set({ shout: event.target.value.toUpperCase() })} /></label>
      <label>Day <input type="date" {...field('day')} /></label>
      <label>Level <input type="range" max="10" {...field('level')} /></label>
      <label>Land <select {...field('land')}><option value="no">Norway</option><option value="se">Sweden</option></select></label>
      <label>Extras <select multiple value={state.extras} onChange={(event) => set({ extras: [...event.target.selectedOptions].map((one) => one.value) })}>
        <option value="s">Salt</option><option value="p">Pepper</option><option value="c">Chili</option></select></label>
      <label><input type="checkbox" checked={state.terms} onChange={(event) => set({ terms: event.target.checked })} /> I accept</label>
      {['a', 'b'].map((plan) => <label key={plan}><input type="radio" name="plan" checked={state.plan === plan} onChange={() => set({ plan })} /> Plan {plan.toUpperCase()}</label>)}
      <ul>{state.order.map((item, at) => <li key={item} draggable aria-label={item} onDragStart={() => { dragged.current = item; }}
        onDragOver={(event) => event.preventDefault()} onDrop={() => drop(at)}>{item}</li>)}</ul>
      <button>Send</button>
    </form>
  );
}

createRoot(document.getElementById('root')).render(<Form />);
