import { useEffect, useRef } from 'preact/hooks'

export interface Tab<Id extends string> {
  readonly id: Id
  readonly label: string
}

/** Tabs. Arrow keys move between them. */
export function Tabs<Id extends string>({
  tabs,
  current,
  onChange,
  label,
}: {
  readonly tabs: ReadonlyArray<Tab<Id>>
  readonly current: Id
  readonly onChange: (id: Id) => void
  readonly label: string
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  // What a tab leads to may be another page, with tabs of its own.
  const choose = (id: Id) => {
    onChange(id)
    requestAnimationFrame(() => (list.current ?? document).querySelector<HTMLElement>(`[data-tab="${id}"]`)?.focus())
  }
  function move(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = tabs.findIndex(({ id }) => id === current)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (next) choose(next.id)
  }
  return (
    <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, label: name }) => (
        <button
          key={id}
          type="button"
          role="tab"
          data-tab={id}
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => choose(id)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

/** A choice of one of a few visible options. */
export function Segmented<Id extends string>({
  options,
  current,
  onChange,
  label,
}: {
  readonly options: ReadonlyArray<Tab<Id>>
  readonly current: Id
  readonly onChange: (id: Id) => void
  readonly label: string
}) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map(({ id, label: name }) => (
        <button key={id} type="button" aria-pressed={id === current} onClick={() => onChange(id)}>
          {name}
        </button>
      ))}
    </div>
  )
}
