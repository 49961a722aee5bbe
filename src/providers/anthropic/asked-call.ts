import { asList, asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { askedFor, withCallAskedFor } from '../wire/fitting/asked-call.ts'
import { leavingOutUnbound } from './bound-thoughts.ts'
import { claudeVersion } from './claude-version.ts'

/** Whether a model refuses to be made to call a tool: those since 5.1 do, all but Haiku. */
const decidesItself = (model: string) => claudeVersion(model) > 500 && !/haiku/.test(model)

/** A request that asks for a call in words, where its model refuses to be made to call a tool. */
export function withAskedCall(body: ChatRequest, model: string, drop: Drop): ChatRequest {
  return decidesItself(model) ? withCallAskedFor(body, drop) : body
}

/** The changes of a request that is relayed to a model which refuses to be made to call a tool: it is asked for the call
 *  behind all that was said. Thoughts of turns that were asked for so belong to words that the client does not have: they
 *  are left out. `before`: what was changed already. */
export function askedCallChanges(
  body: ModelRequest,
  before: Readonly<Record<string, unknown>>,
  model: string,
  drop: Drop,
): JsonRecord {
  const { type, name, ...choice } = asRecord(body.tool_choice)
  if ((type !== 'any' && type !== 'tool') || !decidesItself(model) || asList(body.tools).length === 0) return {}
  drop('tool_choice')
  const turns = asList(before.messages ?? body.messages).map(asRecord)
  const isThought = turns.some(({ content }) => asList(content).some((block) => asRecord(block).type === 'thinking'))
  return {
    messages: withLastWords(turns, askedFor(name)),
    tool_choice: { ...choice, type: 'auto' },
    ...(isThought ? leavingOutUnbound(before.thinking ?? body.thinking) : {}),
  }
}

function withLastWords(turns: readonly JsonRecord[], text: string): readonly JsonRecord[] {
  const block = { type: 'text', text }
  const last = turns.at(-1)
  if (!last || last.role === 'assistant') return [...turns, { role: 'user', content: [block] }]
  const content = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : asList(last.content)
  return [...turns.slice(0, -1), { ...last, content: [...content, block] }]
}
