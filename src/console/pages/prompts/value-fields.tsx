import { useId } from 'preact/hooks'
import { isRequired, kindOf, type Variable, type Variables } from './prompt.ts'

/** A field for the value of each variable. */
export function ValueFields({
  variables,
  typed,
  onChange,
}: {
  readonly variables: Variables
  readonly typed: Readonly<Record<string, string>>
  readonly onChange: (typed: Readonly<Record<string, string>>) => void
}) {
  return (
    <>
      {Object.entries(variables).map(([name, variable]) => (
        <ValueField
          key={name}
          name={name}
          variable={variable}
          value={typed[name] ?? ''}
          onChange={(value) => onChange({ ...typed, [name]: value })}
        />
      ))}
    </>
  )
}

function ValueField({
  name,
  variable,
  value,
  onChange,
}: {
  readonly name: string
  readonly variable: Variable
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const id = useId()
  const { type, enum: listed = [], default: fallback } = variable
  const choices = type === 'boolean' ? ['true', 'false'] : type === 'enum' ? listed : undefined
  const none = fallback === undefined ? (isRequired(variable) ? 'required' : 'empty') : plain(fallback)
  const control = { id, class: 'input', 'aria-describedby': `${id}-hint` }
  return (
    <div class="field">
      <label for={id}>{name}</label>
      {choices ? (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">{`not given (${none})`}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : type === 'array' || type === 'object' ? (
        <textarea
          {...control}
          class="input mono"
          rows={3}
          spellcheck={false}
          placeholder={none}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <input
          {...control}
          placeholder={none}
          autoComplete="off"
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      <span class="hint" id={`${id}-hint`}>
        {kindOf(variable)}
        {(type === 'array' || type === 'object') && ', as JSON'}
      </span>
    </div>
  )
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
