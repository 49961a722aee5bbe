import { useState } from 'preact/hooks'
import { type Common, setter } from './fields.tsx'
import { Field, type Values } from './form.tsx'

/** A limit: none (null), nothing at all (0), or a number. */
export function LimitField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  unit,
  disabled,
}: Common<Fields> & { readonly unit: string }) {
  const set = setter(form, name)
  const value = form.get(name) as number | null | undefined
  const [typed, setTyped] = useState(value ? String(value) : '')
  const choose = (whole: null | 0) => {
    setTyped('')
    set(whole)
  }
  const kind = value === null || value === undefined ? 'none' : value === 0 && typed === '' ? 'nothing' : 'number'
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(control) => (
        <span class="limit">
          <span class="segmented" role="group" aria-label={label}>
            <button type="button" disabled={disabled} aria-pressed={kind === 'none'} onClick={() => choose(null)}>
              No limit
            </button>
            <button type="button" disabled={disabled} aria-pressed={kind === 'nothing'} onClick={() => choose(0)}>
              Nothing
            </button>
          </span>
          <input
            {...control}
            class="input"
            type="number"
            inputMode="decimal"
            min={0}
            step="any"
            disabled={disabled}
            placeholder="a number"
            value={kind === 'number' ? (typed === '' ? String(value) : typed) : ''}
            onInput={(event) => {
              const text = event.currentTarget.value
              setTyped(text)
              set(text === '' ? null : Number(text))
            }}
          />
          <span class="quiet">{unit}</span>
        </span>
      )}
    </Field>
  )
}
