import type { Message, Variables } from './prompt.ts'
import { textsOf } from './prompt.ts'
import { readTemplate } from './template.ts'
import { readValue } from './values.ts'

/** What is being written, with the test values in place. A variable without a value is marked. */
export function Preview({
  messages,
  variables,
  typed,
}: {
  readonly messages: readonly Message[]
  readonly variables: Variables
  readonly typed: Readonly<Record<string, string>>
}) {
  return (
    <ol class="stack-small" aria-label="Preview">
      {messages.map((message, at) => (
        <li key={at} class="message">
          <span class="quiet small">{message.role}</span>
          {textsOf(message).map((text, part) => (
            <pre key={part}>
              {readTemplate(text).pieces.map((piece, place) => {
                if (typeof piece === 'string') return piece
                const value = textFor(piece.variable, variables, typed)
                return value === undefined ? <mark key={place}>{`{{${piece.variable}}}`}</mark> : value
              })}
            </pre>
          ))}
        </li>
      ))}
    </ol>
  )
}

/** The text that stands for a variable; undefined: a call would be refused. */
function textFor(name: string, variables: Variables, typed: Readonly<Record<string, string>>): string | undefined {
  const variable = variables[name]
  if (!variable) return undefined
  const value = typed[name] ? readValue(variable, typed[name]) : variable.default
  if (value === undefined || value === null) return variable.required === false ? '' : undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
