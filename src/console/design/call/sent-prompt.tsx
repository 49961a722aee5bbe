import { useEffect, useState } from 'preact/hooks'
import { type Answer, ApiError, api, type Input } from '../../data/client.ts'

type Asked = NonNullable<Input<'POST /ui/api/prompts/render'>['body']>
type Sent = Answer<'POST /ui/api/prompts/render'>

/** The pause in typing after which the gateway is asked. */
const PAUSE_MS = 300

/** The messages that a call would send with a prompt, rendered by the gateway without calling a model. The last result
 *  stays while the next one is loading. */
export function SentPrompt({ asked, label }: { readonly asked: Asked; readonly label: string }) {
  const [sent, setSent] = useState<Sent>()
  const [wrong, setWrong] = useState<string>()
  const body = JSON.stringify({ ...asked, lenient: true })
  useEffect(() => {
    const stop = new AbortController()
    const pause = setTimeout(async () => {
      try {
        setSent(await api('POST /ui/api/prompts/render', { body: JSON.parse(body) as Asked }, stop.signal))
        setWrong(undefined)
      } catch (error) {
        if (!stop.signal.aborted && error instanceof ApiError) setWrong(error.message)
      }
    }, PAUSE_MS)
    return () => {
      clearTimeout(pause)
      stop.abort()
    }
  }, [body])
  return (
    <div class="stack-small">
      <p class={wrong === undefined ? 'quiet small' : 'wrong'} role="status">
        {wrong ?? refusalOf(sent)}
      </p>
      {sent && (
        <ol class="stack-small" aria-label={label}>
          {sent.messages.map((message, at) => (
            <li key={at} class="message">
              <span class="quiet small">{message.role}</span>
              {textsOf(message).map((text, part) => (
                <pre key={part}>{text}</pre>
              ))}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

const textsOf = ({ content }: Sent['messages'][number]): readonly string[] =>
  typeof content === 'string' ? [content] : content.map(({ text }) => text)

function refusalOf(sent: Sent | undefined): string {
  if (!sent) return 'The gateway puts the values in place…'
  const from = sent.version === null ? '' : `Version ${sent.version}. `
  return sent.missing.length === 0
    ? `${from}A call would send this.`
    : `${from}A call is refused without ${sent.missing.join(', ')}.`
}
