import { Button } from '../../design/button.tsx'
import { type DraftMessage, newMessage } from './draft.ts'
import { ROLES } from './prompt.ts'
import { readTemplate } from './template.ts'

/** The messages of a version that is being written. */
export function MessageFields({
  messages,
  onChange,
}: {
  readonly messages: readonly DraftMessage[]
  readonly onChange: (messages: readonly DraftMessage[]) => void
}) {
  const change = (id: number, changes: Partial<DraftMessage>) =>
    onChange(messages.map((one) => (one.id === id ? { ...one, ...changes } : one)))
  function moveUp(at: number): void {
    const moved = [...messages]
    moved.splice(at - 1, 0, ...moved.splice(at, 1))
    onChange(moved)
  }
  return (
    <>
      {messages.map((message, at) => (
        <fieldset key={message.id} class="field" aria-label={`Message ${at + 1}`}>
          <span class="row">
            <select
              class="input order"
              aria-label={`Role of message ${at + 1}`}
              value={message.role}
              onChange={(event) => change(message.id, { role: event.currentTarget.value as DraftMessage['role'] })}
            >
              {ROLES.map((role) => (
                <option key={role} value={role}>
                  {role}
                </option>
              ))}
            </select>
            {at > 0 && (
              <Button small kind="plain" label={`Move up message ${at + 1}`} onClick={() => moveUp(at)}>
                Move up
              </Button>
            )}
            {messages.length > 1 && (
              <Button
                small
                kind="plain"
                label={`Remove message ${at + 1}`}
                onClick={() => onChange(messages.filter(({ id }) => id !== message.id))}
              >
                Remove
              </Button>
            )}
          </span>
          {message.texts.map((text, part) => (
            <MessageText
              key={part}
              label={message.hasParts ? `Message ${at + 1}, part ${part + 1}` : `Text of message ${at + 1}`}
              text={text}
              onChange={(next) =>
                change(message.id, { texts: message.texts.map((one, place) => (place === part ? next : one)) })
              }
            />
          ))}
        </fieldset>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onChange([...messages, newMessage('user')])}>
          Add a message
        </Button>
      </div>
    </>
  )
}

function MessageText({
  label,
  text,
  onChange,
}: {
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
}) {
  const { wrong } = readTemplate(text)
  return (
    <>
      <textarea
        class="input mono"
        aria-label={label}
        aria-invalid={wrong !== undefined || undefined}
        data-field="messages"
        rows={Math.min(14, Math.max(3, text.split('\n').length + 1))}
        spellcheck={false}
        placeholder={'You help customers of {{shop}}.'}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {wrong !== undefined && (
        <span class="wrong">
          “{wrong}” is not a variable. A variable is {'{{name}}'}; {'\\{{'} is the two braces themselves.
        </span>
      )}
    </>
  )
}
