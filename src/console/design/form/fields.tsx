import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { offline } from '../../data/connection.ts'
import type { Lookup } from '../../data/lookups.ts'
import { Button } from '../button.tsx'
import { among, Combobox, type Option } from './combobox.tsx'
import { Field, type Form, useShown, type Values } from './form.tsx'
import { leave } from './unsaved.ts'

export interface Common<Fields extends Values> {
  readonly form: Form<Fields>
  readonly name: keyof Fields & string
  readonly label: string
  readonly hint?: ComponentChildren
  readonly disabled?: boolean
}

export const setter =
  <Fields extends Values>(form: Form<Fields>, name: keyof Fields & string) =>
  (value: unknown) =>
    form.set(name, value as Fields[typeof name])

/** A text field. An empty one is null if the API takes null for none. */
export function TextField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  disabled,
  type = 'text',
  lines,
  nullable = false,
  placeholder,
  autoComplete = 'off',
  mono = false,
  required = false,
}: Common<Fields> & {
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'date' | 'datetime-local'
  readonly lines?: number
  readonly nullable?: boolean
  readonly placeholder?: string
  readonly autoComplete?: string
  readonly mono?: boolean
  readonly required?: boolean
}) {
  const set = setter(form, name)
  const value = String(form.get(name) ?? '')
  const changed = (text: string) => set(text === '' && nullable ? null : text)
  const look = { class: mono ? 'input mono' : 'input', placeholder, disabled, value, required }
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(control) =>
        lines ? (
          <textarea
            {...control}
            {...look}
            rows={lines}
            spellcheck={false}
            onInput={(event) => changed(event.currentTarget.value)}
          />
        ) : (
          <input
            {...control}
            {...look}
            type={type}
            autoComplete={autoComplete}
            onInput={(event) => changed(event.currentTarget.value)}
          />
        )
      }
    </Field>
  )
}

/** A number, or null where it is left empty. */
export function NumberField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  disabled,
  unit,
  min,
  max,
  step,
  placeholder,
}: Common<Fields> & {
  readonly unit?: string
  readonly min?: number
  readonly max?: number
  readonly step?: number | 'any'
  readonly placeholder?: string
}) {
  const set = setter(form, name)
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(control) => (
        <span class="affix">
          <input
            {...control}
            class="input"
            type="number"
            inputMode="decimal"
            min={min}
            max={max}
            step={step ?? 'any'}
            placeholder={placeholder}
            disabled={disabled}
            value={(form.get(name) as number | null | undefined) ?? ''}
            onInput={(event) => set(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}
          />
          {unit && <span class="unit">{unit}</span>}
        </span>
      )}
    </Field>
  )
}

/** Yes or no. */
export function CheckField<Fields extends Values>({ form, name, label, hint, disabled }: Common<Fields>) {
  const id = useId()
  useShown(form, name)
  const wrong = form.wrong(name)
  return (
    <div class="field">
      <label class="check" for={id}>
        <input
          id={id}
          type="checkbox"
          data-field={name}
          disabled={disabled}
          checked={Boolean(form.get(name))}
          aria-describedby={hint || wrong ? `${id}-hint` : undefined}
          onChange={(event) => setter(form, name)(event.currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      {(hint || wrong) && (
        <span class={wrong ? 'wrong' : 'hint'} id={`${id}-hint`}>
          {wrong ?? hint}
        </span>
      )}
    </div>
  )
}

/** One of a few. The empty value is null. */
export function SelectField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  disabled,
  options,
  none,
}: Common<Fields> & {
  readonly options: readonly Option[] /** What null is called, where it may be chosen. */
  readonly none?: string
}) {
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(control) => (
        <select
          {...control}
          class="input"
          disabled={disabled}
          value={String(form.get(name) ?? '')}
          onChange={(event) => setter(form, name)(event.currentTarget.value === '' ? null : event.currentTarget.value)}
        >
          {none !== undefined && <option value="">{none}</option>}
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** One of many, found by what is typed. */
export function LookupField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  disabled,
  lookup,
  choices,
  placeholder,
  free = false,
}: Common<Fields> & {
  readonly lookup?: Lookup
  readonly choices?: readonly Option[]
  readonly placeholder?: string
  readonly free?: boolean
}) {
  const value = (form.get(name) as string | null | undefined) ?? ''
  const [shown, setShown] = useState(value)
  useEffect(() => {
    let current = true
    setShown(choices?.find((choice) => choice.value === value)?.label ?? value)
    if (value && lookup) lookup.name(value).then((text) => current && setShown(text))
    return () => {
      current = false
    }
  }, [value])
  if (disabled) return <TextField form={form} name={name} label={label} hint={hint} disabled />
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(control) => (
        <Combobox
          id={control.id}
          invalid={control['aria-invalid']}
          describedBy={control['aria-describedby']}
          value={shown}
          free={free}
          placeholder={placeholder}
          search={lookup ? lookup.search : among(choices ?? [])}
          onChange={(option) => setter(form, name)(option?.value ?? null)}
        />
      )}
    </Field>
  )
}

/** The foot of a form: what is wrong, and what can be done. */
export function FormFoot<Fields extends Values>({
  form,
  save,
  onCancel,
  always = false,
}: {
  readonly form: Form<Fields>
  readonly save: string
  readonly onCancel: () => void /** Also where nothing was changed. */
  readonly always?: boolean
}) {
  const { failure } = form
  const mayBeDone = failure && 'code' in failure && failure.code === 'unreachable' && !offline.get()
  return (
    <>
      <span class="say" role="alert">
        {form.problem}
        {mayBeDone && ' The answer may be lost, and not the request: look whether it is done before you repeat it.'}
      </span>
      <Button onClick={() => leave(onCancel, [form.draft])}>Cancel</Button>
      <Button type="submit" kind="primary" busy={form.busy} disabled={!always && !form.dirty}>
        {save}
      </Button>
    </>
  )
}
