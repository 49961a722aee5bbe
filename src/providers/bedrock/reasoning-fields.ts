import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { thinkingFields } from '../anthropic/thinking-fields.ts'
import { type Efforts, nearestEffort } from '../wire/fitting/nearest-effort.ts'
import { effortOfThinking } from '../wire/fitting/vendor-words.ts'

const CLAUDE = /anthropic\.claude/

/** The reasoning fields of the model families beside Claude; Converse itself has none. */
const FAMILIES: readonly {
  readonly of: RegExp
  fields(effort: unknown, body: ChatRequest, model: string): JsonRecord
}[] = [
  {
    of: /amazon\.nova-2/,
    fields: (effort, body) => novaFields(effort, body),
  },
  {
    of: /openai\.|deepseek\.|qwen\.|moonshot|minimax|zai\./,
    fields: (effort, _body, model) => ({ reasoning_effort: nearestEffort(effort, model, OPEN_EFFORTS) }),
  },
]

const OPEN_EFFORTS: Efforts = [[/openai\./, ['low', 'medium', 'high']]]
const NOVA_EFFORTS: Efforts = [[/^/, ['none', 'low', 'medium', 'high']]]

/** Nova refuses a limit of the answer beside its highest effort: the limit counts. */
function novaFields(asked: unknown, { max_completion_tokens, max_tokens }: ChatRequest): JsonRecord {
  const effort = nearestEffort(asked, '', NOVA_EFFORTS)
  if (effort === 'none') return { reasoningConfig: { type: 'disabled' } }
  const isBounded = (max_completion_tokens ?? max_tokens ?? undefined) !== undefined
  const maxReasoningEffort = effort === 'high' && isBounded ? 'medium' : effort
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort } }
}

/** The model-specific fields for reasoning. The client's own `thinking` passes unchanged where Claude takes it, or nothing
 *  is known of a model because its name is that of the account's own profile; others are told the effort that it asks for. */
export function reasoningFields(body: ChatRequest, model: string, drop: Drop): JsonRecord {
  const { reasoning_effort, thinking } = body
  const isOwn = isRecord(thinking)
  if (CLAUDE.test(model)) return reasoning_effort == null && !isOwn ? {} : claudeFields(body, model, drop)
  if (isOwn && model.startsWith('arn:')) return { thinking }
  const effort = reasoning_effort ?? (isOwn ? effortOfThinking(thinking) : undefined)
  if (effort === undefined) return {}
  const family = FAMILIES.find(({ of }) => of.test(model))
  if (!family) drop(isOwn ? 'thinking' : 'reasoning_effort')
  return family?.fields(effort, body, model) ?? {}
}

function claudeFields(body: ChatRequest, model: string, drop: Drop): JsonRecord {
  const limit = body.max_completion_tokens ?? body.max_tokens
  const { thinking, effort } = thinkingFields(body, model, typeof limit === 'number' ? limit : undefined, drop)
  return { ...(thinking ? { thinking } : {}), ...(effort === undefined ? {} : { output_config: { effort } }) }
}
