import { useApi } from '../../data/query.ts'
import { Loaded, Loading } from '../../design/states.tsx'
import type { Prompt } from './prompt.ts'

interface Line {
  readonly op: ' ' | '-' | '+'
  readonly text: string
}

const WORDS = { '-': 'removed', '+': 'added', ' ': undefined } as const

/** What is different between two versions, message by message and line by line. */
export function Diff({ prompt, from, to }: { readonly prompt: Prompt; readonly from: number; readonly to: number }) {
  const read = useApi('GET /ui/api/prompts/{key}/diff', { params: { key: prompt.key }, query: { from, to } })
  return (
    <Loaded of={read}>
      {({ messages, variables, ...compared }) => {
        // Another comparison is never shown under these numbers.
        if (compared.from !== from || compared.to !== to) return <Loading />
        const isOther = ({ op }: Line) => op !== ' '
        const roles = messages.some(({ role }) => role.from !== role.to)
        const texts = messages.some(({ lines }) => lines.some(isOther))
        const declared = variables.some(isOther)
        if (!roles && !texts && !declared) return <p class="quiet">They are equal.</p>
        return (
          <div class="stack-small">
            {messages.map(({ role, lines }, at) => (
              <div key={at} class="message">
                <span class="quiet small">{roleOf(role)}</span>
                <Lines of={lines} />
              </div>
            ))}
            {declared && (
              <div class="message">
                <span class="quiet small">variables</span>
                <Lines of={variables} />
              </div>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

function roleOf({ from, to }: { readonly from: string | null; readonly to: string | null }): string {
  if (from === to) return to ?? ''
  if (from === null) return `${to}, added`
  if (to === null) return `${from}, removed`
  return `${from} → ${to}`
}

function Lines({ of: lines }: { readonly of: readonly Line[] }) {
  return (
    <pre class="diff">
      {lines.map(({ op, text }, at) => (
        <span key={at} class={WORDS[op] ?? 'same'}>
          <span aria-hidden="true">{op} </span>
          {WORDS[op] && <span class="visually-hidden">{WORDS[op]}: </span>}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
