import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../../data/client.ts'

export type Values = Readonly<Record<string, unknown>>

/** What is typed into a form. What was read again meanwhile never touches it. */
export interface Form<Fields extends Values> {
  readonly values: Fields
  get<Name extends keyof Fields & string>(name: Name): Fields[Name]
  set<Name extends keyof Fields & string>(name: Name, value: Fields[Name]): void
  /** Only what differs from the beginning: the body of a PATCH. */
  changes(): Partial<Fields>
  readonly dirty: boolean
  /** What is wrong with a field. */
  wrong(name: string): string | undefined
  /** What is wrong, but not with a field that the form shows. */
  readonly problem: string | undefined
  /** The refusal itself. */
  readonly failure: ApiError | Error | undefined
  readonly busy: boolean
  /** Does it; a refusal is shown at the field that it names, which gets the focus. True: it was done. */
  submit(work: () => Promise<unknown>): Promise<boolean>
  reset(values: Fields): void
  /** Fields that are shown tell the form of it. */
  shows(name: string): void
}

export function useForm<Fields extends Values>(initial: Fields): Form<Fields> {
  const [start, setStart] = useState(initial)
  const [values, setValues] = useState(initial)
  const [error, setError] = useState<ApiError | Error>()
  const [busy, setBusy] = useState(false)
  const shown = useRef(new Set<string>())
  const changes = () =>
    Object.fromEntries(
      Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(start[name])),
    ) as Partial<Fields>
  const param = error && 'param' in error && error.param ? error.param.split(/[.[]/)[0] : undefined
  const isField = param !== undefined && shown.current.has(param)
  return {
    values,
    get: (name) => values[name],
    set(name, value) {
      setValues((now) => ({ ...now, [name]: value }))
      if (param === name) setError(undefined)
    },
    changes,
    dirty: Object.keys(changes()).length > 0,
    wrong: (name) => (isField && param === name ? error?.message : undefined),
    problem: error && !isField ? error.message : undefined,
    failure: error,
    busy,
    async submit(work) {
      setBusy(true)
      setError(undefined)
      try {
        await work()
        return true
      } catch (failure) {
        setError(failure as Error)
        const name = (failure as Partial<ApiError>).param?.split(/[.[]/)[0]
        if (name) requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-field="${name}"]`)?.focus())
        return false
      } finally {
        setBusy(false)
      }
    },
    reset(next) {
      setStart(next)
      setValues(next)
      setError(undefined)
    },
    shows: (name) => void shown.current.add(name),
  }
}

/** A field with its label, its hint and what is wrong with it. The control gets the attributes that tie them together. */
export function Field<Fields extends Values>({
  form,
  name,
  label,
  hint,
  children,
}: {
  readonly form: Form<Fields>
  readonly name: keyof Fields & string
  readonly label: string
  readonly hint?: ComponentChildren
  readonly children: (control: ControlAttributes) => ComponentChildren
}) {
  const id = useId()
  form.shows(name)
  const wrong = form.wrong(name)
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ') || undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'data-field': name, 'aria-invalid': wrong ? true : undefined, 'aria-describedby': described })}
      {wrong && (
        <span class="wrong" id={`${id}-wrong`}>
          {wrong}
        </span>
      )}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

export interface ControlAttributes {
  readonly id: string
  readonly 'data-field': string
  readonly 'aria-invalid': true | undefined
  readonly 'aria-describedby': string | undefined
}
