// Radix UI: select in a portal that turns the page behind it off, dialog, checkbox, switch, slider, menu that opens at pointerdown.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Checkbox, Dialog, DropdownMenu, Label, RadioGroup, Select, Slider, Switch, Tabs, Toggle } from 'radix-ui';

function Page() {
  const [state, put] = useState({ land: undefined, terms: false, dark: false, plan: 'a', bold: false, level: 30, tab: 'one', done: '', open: false, answer: '' });
  const set = (change) => put((old) => ({ ...old, ...change }));
  useEffect(() => { window.state = state; });
  const box = { width: 24, height: 24 };
  return (
    <>
      <Select.Root value={state.land} onValueChange={(land) => set({ land })}>
        <Select.Trigger aria-label="Land"><Select.Value placeholder="Choose" /></Select.Trigger>
        <Select.Portal><Select.Content><Select.Viewport>
          {[['no', 'Norway'], ['se', 'Sweden'], ['dk', 'Denmark']].map(([value, text]) => <Select.Item key={value} value={value} disabled={value === 'dk'}><Select.ItemText>{text}</Select.ItemText></Select.Item>)}
        </Select.Viewport></Select.Content></Select.Portal>
      </Select.Root>
      <div><Checkbox.Root id="terms" style={box} checked={state.terms} onCheckedChange={(terms) => set({ terms })}><Checkbox.Indicator>x</Checkbox.Indicator></Checkbox.Root><Label.Root htmlFor="terms">I accept</Label.Root></div>
      <div><Switch.Root id="dark" style={box} checked={state.dark} onCheckedChange={(dark) => set({ dark })}><Switch.Thumb /></Switch.Root><label htmlFor="dark">Dark</label></div>
      <RadioGroup.Root value={state.plan} onValueChange={(plan) => set({ plan })} aria-label="Plan">
        {['a', 'b'].map((plan) => <RadioGroup.Item key={plan} value={plan} style={box} aria-label={`Plan ${plan.toUpperCase()}`}><RadioGroup.Indicator>o</RadioGroup.Indicator></RadioGroup.Item>)}
      </RadioGroup.Root>
      <Toggle.Root pressed={state.bold} onPressedChange={(bold) => set({ bold })}>Bold</Toggle.Root>
      <Slider.Root value={[state.level]} onValueChange={([level]) => set({ level })} style={{ position: 'relative', display: 'flex', width: 300, height: 20, alignItems: 'center' }}>
        <Slider.Track style={{ flexGrow: 1, height: 4, background: 'silver' }} /><Slider.Thumb aria-label="Level" style={{ display: 'block', width: 20, height: 20, background: 'black' }} />
      </Slider.Root>
      <Tabs.Root value={state.tab} onValueChange={(tab) => set({ tab })}><Tabs.List><Tabs.Trigger value="one">One</Tabs.Trigger><Tabs.Trigger value="two">Two</Tabs.Trigger></Tabs.List></Tabs.Root>
      <DropdownMenu.Root><DropdownMenu.Trigger>More</DropdownMenu.Trigger>
        <DropdownMenu.Portal><DropdownMenu.Content>
          {['Edit', 'Archive'].map((one) => <DropdownMenu.Item key={one} onSelect={() => set({ done: one })}>{one}</DropdownMenu.Item>)}
          <DropdownMenu.CheckboxItem checked={state.dark} onCheckedChange={(dark) => set({ dark })}>Night</DropdownMenu.CheckboxItem>
        </DropdownMenu.Content></DropdownMenu.Portal></DropdownMenu.Root>
      <Dialog.Root open={state.open} onOpenChange={(open) => set({ open })}>
        <Dialog.Trigger>Open</Dialog.Trigger>
        <Dialog.Portal><Dialog.Overlay style={{ position: 'fixed', inset: 0, background: 'rgba(0,0,0,.3)' }} />
          <Dialog.Content style={{ position: 'fixed', top: 100, left: 100, background: 'white' }} aria-describedby={undefined}><Dialog.Title>Question</Dialog.Title>
            <label>Answer <input value={state.answer} onChange={(event) => set({ answer: event.target.value })} /></label><Dialog.Close>Done</Dialog.Close>
          </Dialog.Content></Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

createRoot(document.getElementById('root')).render(<Page />);
