import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../../data/client.ts'
import { DialogDrafts, type Draft, enters } from './unsaved.ts'

export type Values = Readonly<Record<string, unknown>>

/** The state of a form. Refreshed data never changes what was typed. */
export interface Form<Fields extends Values> {
  readonly values: Fields
  get<Name extends keyof Fields & string>(name: Name): Fields[Name]
  set<Name extends keyof Fields & string>(name: Name, value: Fields[Name]): void
  /** Only the fields that changed: the body of a PATCH. */
  changes(): Partial<Fields>
  readonly dirty: boolean
  /** The error of a field. */
  wrong(name: string): string | undefined
  /** An error that belongs to no visible field. */
  readonly problem: string | undefined
  /** The refusal itself. */
  readonly failure: ApiError | Error | undefined
  readonly busy: boolean
  /** Runs `work` and resolves with whether it succeeded, after which leaving the form loses nothing. A refusal is shown
   *  at the field that it names, which gets the focus. `work` may resolve with false: it was not done. */
  submit(work: () => Promise<unknown>): Promise<boolean>
  /** The same for work that saves nothing, such as testing the input. */
  check(work: () => Promise<unknown>): Promise<boolean>
  reset(values: Fields): void
  /** Registers a visible field. */
  shows(name: string): void
  /** For the question before the form is left. */
  readonly draft: Draft
}

/** With `asks: false` it can be left without a question, such as one with a password or a prompt to a model. */
export function useForm<Fields extends Values>(initial: Fields, { asks = true } = {}): Form<Fields> {
  const [start, setStart] = useState(initial)
  const [values, setValues] = useState(initial)
  const [error, setError] = useState<ApiError | Error>()
  const [busy, setBusy] = useState(false)
  const shown = useRef(new Set<string>())
  const changes = () =>
    Object.fromEntries(
      Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(start[name])),
    ) as Partial<Fields>
  const dirty = Object.keys(changes()).length > 0
  const kept = useRef(false)
  const draft = useRef<Draft>({ isUnsaved: false }).current
  draft.isUnsaved = asks && dirty && !kept.current
  useEffect(() => enters(draft), [draft])
  async function run(work: () => Promise<unknown>): Promise<boolean> {
    setBusy(true)
    setError(undefined)
    try {
      refuseUnreadable()
      return (await work()) !== false
    } catch (failure) {
      setError(failure as Error)
      const name = (failure as Partial<ApiError>).param?.split(/[.[]/)[0]
      if (name) requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-field="${name}"]`)?.focus())
      return false
    } finally {
      setBusy(false)
    }
  }
  const param = error && 'param' in error && error.param ? error.param.split(/[.[]/)[0] : undefined
  const isField = param !== undefined && shown.current.has(param)
  return {
    values,
    get: (name) => values[name],
    set(name, value) {
      kept.current = false
      setValues((now) => ({ ...now, [name]: value }))
      if (param === name) setError(undefined)
    },
    changes,
    dirty,
    wrong: (name) => (isField && param === name ? error?.message : undefined),
    problem: error && !isField ? error.message : undefined,
    failure: error,
    busy,
    async submit(work) {
      const done = await run(work)
      if (done) {
        kept.current = true
        draft.isUnsaved = false
      }
      return done
    },
    check: run,
    reset(next) {
      setStart(next)
      setValues(next)
      setError(undefined)
    },
    shows: (name) => void shown.current.add(name),
    draft,
  }
}

/** What a browser cannot read as a number or a time, `1,000` or half a date, it gives as nothing, which would mean no limit. */
function refuseUnreadable(): void {
  const place: ParentNode = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document
  const field = [...place.querySelectorAll('input')].find(({ validity }) => validity.badInput)
  if (!field) return
  field.focus()
  const name = field.labels?.[0]?.textContent ?? field.getAttribute('aria-label')
  const what = field.type === 'number' ? 'a number' : 'a date and a time'
  throw Object.assign(new Error(`${name} must be ${what}.`), { param: field.dataset.field })
}

/** Registers a visible field with its form. */
export function useShown<Fields extends Values>(form: Form<Fields>, name: string): void {
  form.shows(name)
  useContext(DialogDrafts)?.add(form.draft)
}

/** A field with its label, hint and error. The control gets the attributes that connect them. */
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
  useShown(form, name)
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
