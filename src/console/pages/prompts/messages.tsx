import { type Message, textsOf } from './prompt.ts'

/** Messages as they are written. */
export function Messages({ of: messages }: { readonly of: readonly Message[] }) {
  return (
    <ol class="stack-small">
      {messages.map((message, at) => (
        <li key={at} class="message">
          <span class="quiet small">{message.role}</span>
          {textsOf(message).map((text, part) => (
            <pre key={part}>{text}</pre>
          ))}
        </li>
      ))}
    </ol>
  )
}
