// Material UI: text fields, its own select and autocomplete in a portal, switch, slider, a modal dialog.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import Autocomplete from '@mui/material/Autocomplete';
import Button from '@mui/material/Button';
import Checkbox from '@mui/material/Checkbox';
import Dialog from '@mui/material/Dialog';
import FormControl from '@mui/material/FormControl';
import FormControlLabel from '@mui/material/FormControlLabel';
import InputLabel from '@mui/material/InputLabel';
import MenuItem from '@mui/material/MenuItem';
import Radio from '@mui/material/Radio';
import RadioGroup from '@mui/material/RadioGroup';
import Select from '@mui/material/Select';
import Slider from '@mui/material/Slider';
import Switch from '@mui/material/Switch';
import Tab from '@mui/material/Tab';
import Tabs from '@mui/material/Tabs';
import TextField from '@mui/material/TextField';

function Page() {
  const [state, put] = useState({ name: '', notes: '', land: '', city: null, terms: false, dark: false, plan: 'a', level: 30, tab: 0, open: false, inside: '' });
  const set = (change) => put((old) => ({ ...old, ...change }));
  useEffect(() => { window.state = state; });
  return (
    <>
      <TextField label="Name" value={state.name} onChange={(event) => set({ name: event.target.value })} margin="normal" />
      <TextField label="Notes" multiline minRows={2} value={state.notes} onChange={(event) => set({ notes: event.target.value })} margin="normal" />
      <FormControl fullWidth margin="normal">
        <InputLabel id="land">Land</InputLabel>
        <Select labelId="land" label="Land" value={state.land} onChange={(event) => set({ land: event.target.value })}>
          <MenuItem value="no">Norway</MenuItem><MenuItem value="se">Sweden</MenuItem><MenuItem value="dk" disabled>Denmark</MenuItem>
        </Select>
      </FormControl>
      <Autocomplete options={['Berlin', 'Bern', 'Oslo']} value={state.city} onChange={(_, city) => set({ city })} renderInput={(all) => <TextField {...all} label="City" margin="normal" />} />
      <FormControlLabel control={<Checkbox checked={state.terms} onChange={(event) => set({ terms: event.target.checked })} />} label="I accept" />
      <FormControlLabel control={<Switch checked={state.dark} onChange={(event) => set({ dark: event.target.checked })} />} label="Dark" />
      <RadioGroup value={state.plan} onChange={(event) => set({ plan: event.target.value })}>
        <FormControlLabel value="a" control={<Radio />} label="Plan A" /><FormControlLabel value="b" control={<Radio />} label="Plan B" />
      </RadioGroup>
      <Slider aria-label="Level" value={state.level} onChange={(_, level) => set({ level })} style={{ width: 300, marginLeft: 20 }} />
      <Tabs value={state.tab} onChange={(_, tab) => set({ tab })}><Tab label="First" /><Tab label="Second" /></Tabs>
      <Button onClick={() => set({ open: true })}>Open</Button>
      <Dialog open={state.open} onClose={() => set({ open: false })} aria-label="Settings">
        <TextField label="Inside" value={state.inside} onChange={(event) => set({ inside: event.target.value })} margin="normal" />
        <Button onClick={() => set({ open: false })}>Done</Button>
      </Dialog>
    </>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
