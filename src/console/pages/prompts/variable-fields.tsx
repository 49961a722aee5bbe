import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { type DraftVariable, hasLength } from './draft.ts'

const TYPES = ['string', 'enum', 'number', 'integer', 'boolean', 'array', 'object'] as const
const ABSENT = { refused: 'is refused', empty: 'has an empty text', default: 'has the default' } as const

/** How a variable is declared. */
export function VariableFields({
  name,
  draft,
  isNamed,
  onChange,
  onRemove,
}: {
  readonly name: string
  readonly draft: DraftVariable
  /** Whether a message names it. */
  readonly isNamed: boolean
  readonly onChange: (draft: DraftVariable) => void
  readonly onRemove: () => void
}) {
  const { type, absent } = draft
  const set = (changes: Partial<DraftVariable>) => onChange({ ...draft, ...changes })
  return (
    <fieldset class="card fields" aria-label={`Variable ${name}`}>
      <span class="row">
        <b class="mono">{name}</b>
        {!isNamed && (
          <>
            <span class="quiet">no message names it</span>
            <Button small kind="plain" label={`Remove ${name}`} onClick={onRemove}>
              Remove
            </Button>
          </>
        )}
      </span>
      <div class="pair">
        <Labelled label="Type">
          {(id) => (
            <select
              id={id}
              class="input"
              value={type}
              onChange={(event) => set({ type: event.currentTarget.value as DraftVariable['type'] })}
            >
              {TYPES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          )}
        </Labelled>
        <Labelled label="A call without it">
          {(id) => (
            <select
              id={id}
              class="input"
              value={absent}
              onChange={(event) => set({ absent: event.currentTarget.value as DraftVariable['absent'] })}
            >
              {Object.entries(ABSENT).map(([one, text]) => (
                <option key={one} value={one}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Labelled>
        {absent === 'default' && (
          <Labelled label={type === 'string' || type === 'enum' ? 'Default' : 'Default, as JSON'}>
            {(id) => <Line id={id} value={draft.fallback} onChange={(fallback) => set({ fallback })} />}
          </Labelled>
        )}
        {hasLength(type) && (
          <Labelled label={type === 'array' ? 'Most items' : 'Most characters'}>
            {(id) => (
              <input
                id={id}
                class="input"
                type="number"
                min={1}
                placeholder="no limit"
                value={draft.longest ?? ''}
                onInput={({ currentTarget: { value } }) => set({ longest: value === '' ? null : Number(value) })}
              />
            )}
          </Labelled>
        )}
        <Labelled label="Description">
          {(id) => <Line id={id} value={draft.description} onChange={(description) => set({ description })} />}
        </Labelled>
      </div>
      {type === 'enum' && (
        <Labelled label="Choices, one a line">
          {(id) => (
            <textarea
              id={id}
              class="input"
              rows={3}
              value={draft.choices}
              onInput={(event) => set({ choices: event.currentTarget.value })}
            />
          )}
        </Labelled>
      )}
    </fieldset>
  )
}

function Labelled({
  label,
  children,
}: {
  readonly label: string
  readonly children: (id: string) => ComponentChildren
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  )
}

function Line({
  id,
  value,
  onChange,
}: {
  readonly id: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <input
      id={id}
      class="input"
      autoComplete="off"
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  )
}
