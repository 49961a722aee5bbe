import { useState } from 'preact/hooks'
import { Button, CopyButton } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { Failure } from '../../design/states.tsx'
import type { Conversation, ToolCall, Turn } from './conversation.ts'
import { Story } from './story.tsx'

const WHO = { user: 'You', assistant: 'Model', tool: 'Tool' } as const
/** Ends that one has to know of; `stop` is how an answer should end. */
const ENDS: Readonly<Record<string, string>> = {
  length: 'Cut: the most output tokens were reached.',
  content_filter: 'Withheld by a content filter.',
}

export function Turns({
  of: { turns, running },
  onSay,
  onAgain,
}: {
  readonly of: Conversation
  readonly onSay: (said: readonly Turn[]) => void
  readonly onAgain: () => void
}) {
  const last = turns.at(-1)
  return (
    <ol class="play-turns">
      {turns.map((turn, index) => (
        <li key={index} class={turn.role}>
          <TurnOf turn={turn} />
          {turn.failure && turn === last && (
            <div>
              <Button small icon="refresh" onClick={onAgain}>
                Try again
              </Button>
            </div>
          )}
        </li>
      ))}
      {!running && last?.calls && last.state === undefined && (
        <li>
          <ToolAnswers calls={last.calls} onSay={onSay} />
        </li>
      )}
    </ol>
  )
}

function TurnOf({ turn }: { readonly turn: Turn }) {
  const { role, text, state, calls, reasoning, finish, failure, told } = turn
  return (
    <>
      <header class="row">
        <h2>{WHO[role]}</h2>
        {state === 'stopped' && <span class="quiet small">stopped</span>}
        {text && role === 'assistant' && state === undefined && <CopyButton text={text} label="Copy the answer" />}
      </header>
      {reasoning && (
        <details>
          <summary class="quiet small">Reasoning</summary>
          <p class="play-text quiet">{reasoning}</p>
        </details>
      )}
      {text && <p class="play-text">{text}</p>}
      {state === 'running' && !text && !calls && <p class="quiet">Waiting for the first word…</p>}
      {calls?.map((call) => (
        <Code key={call.id} wrap label={`Call of ${call.name}`} text={`${call.name}(${pretty(call.arguments)})`} />
      ))}
      {finish && ENDS[finish] && <p class="small">{ENDS[finish]}</p>}
      {failure && <Failure error={failure} />}
      {told && state !== 'running' && <Story told={told} />}
    </>
  )
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

/** What the tools answer is typed by hand: the playground runs none. */
function ToolAnswers({
  calls,
  onSay,
}: {
  readonly calls: readonly ToolCall[]
  readonly onSay: (said: readonly Turn[]) => void
}) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({})
  return (
    <div class="stack">
      {calls.map(({ id, name }) => (
        <div class="field" key={id}>
          <label for={`result-${id}`}>Result of {name}</label>
          <textarea
            id={`result-${id}`}
            class="input mono"
            rows={2}
            onInput={(event) => setResults({ ...results, [id]: event.currentTarget.value })}
          />
        </div>
      ))}
      <div>
        <Button onClick={() => onSay(calls.map(({ id }) => ({ role: 'tool', text: results[id] ?? '', answers: id })))}>
          Send the results
        </Button>
      </div>
    </div>
  )
}
