import { useState } from 'preact/hooks'
import { setter } from '../../design/form/fields.tsx'
import { Field, type Form, type Values } from '../../design/form/form.tsx'
import { moment, zoneName } from '../../design/format.ts'

const DAY_MS = 86_400_000
const PRESETS = [
  { value: 'never', label: 'Never', days: 0 },
  { value: '1', label: 'In a day', days: 1 },
  { value: '7', label: 'In 7 days', days: 7 },
  { value: '30', label: 'In 30 days', days: 30 },
  { value: '90', label: 'In 90 days', days: 90 },
  { value: '365', label: 'In a year', days: 365 },
  { value: 'on', label: 'At a time', days: 0 },
] as const

/** A minute before, so that a clock that is ahead of the gateway's asks for no more than so many days. */
export const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS - 60_000).toISOString()

const presetOf = (at: string): string =>
  PRESETS.find(({ days }) => days > 0 && Math.abs(Date.parse(at) - Date.parse(inDays(days))) < 300_000)?.value ?? 'on'

/** When a key expires: never, after a while, or at a moment. `within` days and `required` are what a team asks for. */
export function ExpiryField<Fields extends Values & { readonly expires_at: string | null }>({
  form,
  within,
  required = false,
  hint,
}: {
  readonly form: Form<Fields>
  readonly within?: number | null | undefined
  readonly required?: boolean
  readonly hint?: string | undefined
}) {
  const value = form.get('expires_at')
  const [kind, setKind] = useState<string>(!value ? (required ? '' : 'never') : presetOf(value))
  const set = setter(form, 'expires_at')
  const most = within ?? Number.POSITIVE_INFINITY
  const offered = PRESETS.filter(({ value: one, days }) => (one === 'never' ? !required : days <= most))
  function choose(chosen: string): void {
    setKind(chosen)
    const days = PRESETS.find((preset) => preset.value === chosen)?.days ?? 0
    if (days > 0) set(inDays(days))
    else if (chosen === 'never' || chosen === '') set(null)
    else if (!value) set(inDays(Math.min(30, most)))
  }
  return (
    <Field
      form={form}
      name="expires_at"
      label="Ends"
      hint={hint ?? (value ? `${moment(value)}, ${zoneName()}` : undefined)}
    >
      {(control) => (
        <span class="pair-tight">
          <select {...control} class="input" value={kind} onChange={(event) => choose(event.currentTarget.value)}>
            {kind === '' && <option value="">Choose</option>}
            {offered.map(({ value: one, label }) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
          {kind === 'on' && (
            <input
              class="input"
              type="datetime-local"
              aria-label="Ends at"
              value={value ? local(value) : ''}
              onInput={(event) => {
                const at = new Date(event.currentTarget.value)
                // No time is not never: the gateway refuses it.
                set(Number.isNaN(at.getTime()) ? '' : at.toISOString())
              }}
            />
          )}
        </span>
      )}
    </Field>
  )
}

/** The value of a `datetime-local` field: local time without a zone. */
function local(iso: string): string {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
