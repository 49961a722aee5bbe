import type { ComponentChildren } from 'preact'
import { useParams } from '../../data/params.ts'

/** Sets the filter of a list to a value of it; with Alt, leaves that value out, where the list can. */
export function useNarrow(): (name: string, value: string, event: MouseEvent, excludes: boolean) => void {
  const params = useParams()
  return (name, value, event, excludes) => {
    event.stopPropagation()
    const leaves = excludes && event.altKey
    params.set({ [name]: leaves ? undefined : value, [`not_${name}`]: leaves ? value : undefined })
  }
}

/** A value in a list: a click on it narrows the list to it. Keys have `f` for that, so it is no stop of Tab. */
export function Narrow({
  name,
  value,
  label,
  excludes = false,
  children,
}: {
  /** The filter, by the name that the API has for it. */
  readonly name: string
  readonly value: string | null
  /** What is narrowed to: `the model gpt-5`. */
  readonly label: string
  /** Whether the list can leave the value out. */
  readonly excludes?: boolean
  readonly children: ComponentChildren
}) {
  const narrow = useNarrow()
  if (value === null || value === '') return <>{children}</>
  return (
    <button
      type="button"
      class="narrow-to"
      tabIndex={-1}
      title={`Only ${label}${excludes ? '. With Alt: all others' : ''}`}
      onClick={(event) => narrow(name, value, event, excludes)}
    >
      {children}
    </button>
  )
}
