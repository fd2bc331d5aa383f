// react-select: a combo box with a field of one letter's width, one that takes several, and one that makes options.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import Select from 'react-select';
import CreatableSelect from 'react-select/creatable';

const options = ['Red', 'Green', 'Blue'].map((label) => ({ value: label.toLowerCase(), label }));

function Page() {
  const [state, put] = useState({ colour: null, several: [], made: null });
  const set = (change) => put((old) => ({ ...old, ...change }));
  useEffect(() => { window.state = state; });
  return (
    <>
      <Select aria-label="Colour" options={options} onChange={(one) => set({ colour: one?.value ?? null })} isClearable />
      <Select aria-label="Several" options={options} isMulti onChange={(all) => set({ several: all.map((one) => one.value) })} />
      <CreatableSelect aria-label="Made" options={options} onChange={(one) => set({ made: one?.value ?? null })} />
    </>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
