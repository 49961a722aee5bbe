import { useEffect, useId, useRef, useState } from 'preact/hooks'

export interface Option {
  readonly value: string
  readonly label: string
  /** Distinguishes it from others of the same name. */
  readonly note?: string | undefined
}

export type Search = (text: string) => readonly Option[] | Promise<readonly Option[]>

/** Finds among fixed options those that contain the text. */
export const among =
  (options: readonly Option[]): Search =>
  (text) => {
    const wanted = text.toLowerCase()
    return options.filter(({ label, value }) => `${label} ${value}`.toLowerCase().includes(wanted))
  }

const DEBOUNCE_MS = 150

/** A field that finds one of many options by typing. Arrows move, Enter takes, Escape closes. */
export function Combobox({
  id,
  value,
  onChange,
  search,
  placeholder,
  free = false,
  autoFocus = false,
  invalid,
  describedBy,
  label,
  onLeave,
}: {
  readonly id?: string | undefined
  /** What is chosen, as it is shown. */
  readonly value: string
  readonly onChange: (option: Option | undefined) => void
  readonly search: Search
  readonly placeholder?: string | undefined
  /** Any typed text is accepted. */
  readonly free?: boolean
  readonly autoFocus?: boolean
  readonly invalid?: boolean | undefined
  readonly describedBy?: string | undefined
  readonly label?: string | undefined
  readonly onLeave?: (() => void) | undefined
}) {
  const list = useId()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState<string>()
  const [options, setOptions] = useState<readonly Option[]>([])
  /** What they were found for: while one types, those of an earlier text are still shown. */
  const foundFor = useRef<string>()
  const takesFirst = useRef(false)
  const [at, setAt] = useState(0)
  const [problem, setProblem] = useState('')
  const open = text !== undefined

  useEffect(() => {
    if (autoFocus) input.current?.focus()
  }, [autoFocus])
  useEffect(() => {
    if (text === undefined) return undefined
    let current = true
    const timer = setTimeout(
      async () => {
        try {
          const found = await search(text)
          if (!current) return
          const typed = free && text && !found.some((one) => one.value === text) ? [{ value: text, label: text }] : []
          const all = [...found, ...typed]
          foundFor.current = text
          setOptions(all)
          setAt(0)
          setProblem('')
          if (takesFirst.current && all[0]) take(all[0])
        } catch (error) {
          if (current) setProblem((error as Error).message)
        }
      },
      text === '' ? 0 : DEBOUNCE_MS,
    )
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [text, free])

  function take(option: Option): void {
    setText(undefined)
    onChange(option)
  }
  function key(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!open) {
        setText('')
        return
      }
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt((now) => (now + step + options.length) % Math.max(1, options.length))
    } else if (event.key === 'Enter' && open) {
      event.preventDefault()
      const option = options[at]
      // Whoever is faster than the search means what it will find.
      if (foundFor.current !== text) takesFirst.current = true
      else if (option) take(option)
    } else if (event.key === 'Escape' && (open || onLeave)) {
      event.preventDefault()
      event.stopPropagation()
      setText(undefined)
      onLeave?.()
    }
  }
  function leave(): void {
    // Of a form that takes any text, what was typed is its value. Otherwise it is forgotten; an emptied field is a choice.
    if (free && !onLeave && text?.trim()) onChange({ value: text.trim(), label: text.trim() })
    else if (text === '' && value !== '' && input.current?.dataset.emptied) onChange(undefined)
    setText(undefined)
    onLeave?.()
  }
  const active = open && options[at] ? `${list}-${at}` : undefined
  useEffect(() => {
    if (active) document.getElementById(active)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <div class="combo">
      <input
        ref={input}
        id={id}
        class="input"
        type="text"
        role="combobox"
        autoComplete="off"
        spellcheck={false}
        aria-expanded={open}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active}
        aria-invalid={invalid}
        aria-describedby={describedBy}
        aria-label={label}
        placeholder={placeholder}
        value={text ?? value}
        onInput={(event) => {
          const typed = event.currentTarget.value
          if (typed === '') event.currentTarget.dataset.emptied = 'yes'
          takesFirst.current = false
          setText(typed)
        }}
        onClick={() => setText((now) => now ?? '')}
        onFocus={(event) => {
          delete event.currentTarget.dataset.emptied
          if (autoFocus) setText((now) => now ?? '')
          event.currentTarget.select()
        }}
        onKeyDown={key}
        onBlur={leave}
      />
      <div id={list} role="listbox" class="combo-list" hidden={!open} aria-label={label ?? placeholder ?? 'Options'}>
        {options.map((option, index) => (
          <div
            key={option.value}
            id={`${list}-${index}`}
            role="option"
            class="option"
            aria-selected={index === at}
            onMouseDown={(event) => {
              // Before the field loses the focus.
              event.preventDefault()
              take(option)
            }}
          >
            <span>{option.label}</span>
            {option.note && <span class="note">{option.note}</span>}
          </div>
        ))}
        {options.length === 0 && (
          <div class="option quiet" role="option" aria-selected="false" aria-disabled="true">
            {problem || 'Nothing found'}
          </div>
        )}
      </div>
    </div>
  )
}
