// Headless UI: list box, combo box, switch, radio group, menu and modal dialog without any look.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import {
  Checkbox, Combobox, ComboboxInput, ComboboxOption, ComboboxOptions, Dialog, DialogPanel, Field, Label, Listbox, ListboxButton, ListboxOption, ListboxOptions,
  Menu, MenuButton, MenuItem, MenuItems, Radio, RadioGroup, Switch,
} from '@headlessui/react';

const people = ['Ann', 'Bob', 'Cleo'];

function Page() {
  const [state, put] = useState({ person: 'Ann', friend: null, dark: false, terms: false, plan: 'a', done: '', open: false, answer: '' });
  const [query, setQuery] = useState('');
  const set = (change) => put((old) => ({ ...old, ...change }));
  useEffect(() => { window.state = state; });
  return (
    <>
      <Field><Label>Person</Label><Listbox value={state.person} onChange={(person) => set({ person })}>
        <ListboxButton>{state.person}</ListboxButton>
        <ListboxOptions anchor="bottom">{people.map((one) => <ListboxOption key={one} value={one}>{one}</ListboxOption>)}</ListboxOptions>
      </Listbox></Field>
      <Field><Label>Friend</Label><Combobox value={state.friend} onChange={(friend) => set({ friend })} onClose={() => setQuery('')}>
        <ComboboxInput displayValue={(one) => one ?? ''} onChange={(event) => setQuery(event.target.value)} />
        <ComboboxOptions anchor="bottom">{people.filter((one) => one.toLowerCase().includes(query.toLowerCase())).map((one) => <ComboboxOption key={one} value={one}>{one}</ComboboxOption>)}</ComboboxOptions>
      </Combobox></Field>
      <Field><Switch checked={state.dark} onChange={(dark) => set({ dark })} style={{ width: 40, height: 20 }} /><Label>Dark</Label></Field>
      <Field><Checkbox checked={state.terms} onChange={(terms) => set({ terms })} style={{ display: 'inline-block', width: 20, height: 20, border: '1px solid' }} /><Label>I accept</Label></Field>
      <RadioGroup value={state.plan} onChange={(plan) => set({ plan })} aria-label="Plan">
        {['a', 'b'].map((plan) => <Field key={plan}><Radio value={plan} style={{ display: 'inline-block', width: 20, height: 20, border: '1px solid' }} /><Label>Plan {plan.toUpperCase()}</Label></Field>)}
      </RadioGroup>
      <Menu><MenuButton>More</MenuButton><MenuItems anchor="bottom">{['Edit', 'Archive'].map((one) => <MenuItem key={one}><button onClick={() => set({ done: one })}>{one}</button></MenuItem>)}</MenuItems></Menu>
      <button onClick={() => set({ open: true })}>Open</button>
      <Dialog open={state.open} onClose={() => set({ open: false })} aria-label="Question">
        <DialogPanel><label>Answer <input value={state.answer} onChange={(event) => set({ answer: event.target.value })} /></label><button onClick={() => set({ open: false })}>Done</button></DialogPanel>
      </Dialog>
    </>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
