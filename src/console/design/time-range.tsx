import { useEffect, useRef, useState } from 'preact/hooks'
import { shortcut } from '../data/shortcuts.ts'
import { RANGES, type RangeName, type TimeRange } from '../data/time-range.ts'
import { Button } from './button.tsx'
import { TextField } from './form/fields.tsx'
import { useForm } from './form/form.tsx'
import { FormDialog } from './form/form-dialog.tsx'
import { dayAndTime, zoneName } from './format.ts'
import { Menu } from './menu.tsx'

/** Chooses the range of time of a page. */
export function RangePicker({ range }: { readonly range: TimeRange }) {
  const [custom, setCustom] = useState(false)
  const picker = useRef<HTMLSpanElement>(null)
  useRangeKeys(range, () => picker.current?.querySelector<HTMLElement>('[aria-haspopup="menu"]')?.click())
  const label = range.name === 'custom' ? `${dayAndTime(range.from)} – ${dayAndTime(range.to)}` : RANGES[range.name]
  return (
    <span ref={picker} class="row range">
      <Button small kind="plain" icon="previous" label="Earlier" onClick={() => range.shift(-1)} />
      <Menu
        label="Range of time"
        class="button small"
        items={[
          ...(Object.keys(RANGES) as RangeName[]).map((name) => ({
            label: RANGES[name],
            checked: range.name === name,
            onSelect: () => range.set(name),
          })),
          null,
          { label: 'From … to …', onSelect: () => setCustom(true) },
        ]}
      >
        {label}
      </Menu>
      <Button small kind="plain" icon="next" label="Later" disabled={range.open} onClick={() => range.shift(1)} />
      {custom && <Custom range={range} onClose={() => setCustom(false)} />}
    </span>
  )
}

/** `t` chooses, `[` and `]` go earlier and later. */
function useRangeKeys(range: TimeRange, choose: () => void): void {
  const now = useRef(range)
  now.current = range
  useEffect(() => {
    const ends = [
      shortcut('t', 'Choose the range of time', choose),
      shortcut('[', 'Earlier', () => now.current.shift(-1)),
      shortcut(']', 'Later', () => !now.current.open && now.current.shift(1)),
    ]
    return () => {
      for (const end of ends) end()
    }
  }, [])
}

/** The value of a `datetime-local` field: local time without a zone. */
const local = (iso: string) => {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function Custom({ range, onClose }: { readonly range: TimeRange; readonly onClose: () => void }) {
  const form = useForm({ from: local(range.from), to: local(range.to) }, { asks: false })
  async function save(): Promise<void> {
    const [from, to] = [new Date(form.values.from), new Date(form.values.to)]
    const done = await form.submit(async () => {
      if (!(from < to)) throw Object.assign(new Error('The end must be after the beginning.'), { param: 'to' })
    })
    if (!done) return
    range.setCustom(from, to)
    onClose()
  }
  return (
    <FormDialog form={form} title="Range of time" save="Show" onSave={save} onClose={onClose} always>
      <TextField form={form} name="from" label="From" type="datetime-local" />
      <TextField
        form={form}
        name="to"
        label="To (exclusive)"
        type="datetime-local"
        hint={`In your own time zone; the page shows ${zoneName()}.`}
      />
    </FormDialog>
  )
}
