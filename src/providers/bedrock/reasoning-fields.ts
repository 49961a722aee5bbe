import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { thinkingFields } from '../anthropic/thinking-fields.ts'

/** The reasoning fields of the model families; Converse itself has none. */
const FAMILIES: readonly {
  readonly of: RegExp
  fields(effort: unknown, body: ChatRequest, model: string, drop: Drop): JsonRecord
}[] = [
  { of: /anthropic\.claude/, fields: (_, body, model, drop) => claudeFields(body, model, drop) },
  {
    of: /amazon\.nova-2/,
    fields: (effort) =>
      effort === 'none'
        ? { reasoningConfig: { type: 'disabled' } }
        : { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } },
  },
  {
    of: /openai\.|deepseek\.|qwen\.|moonshot|minimax|zai\./,
    fields: (effort) => ({ reasoning_effort: effort }),
  },
]

/** The model-specific fields for reasoning. The client's own `thinking` passes unchanged. */
export function reasoningFields(body: ChatRequest, model: string, drop: Drop): JsonRecord {
  const { reasoning_effort: effort, thinking } = body
  if (isRecord(thinking)) return { thinking }
  if (effort == null) return {}
  const family = FAMILIES.find(({ of }) => of.test(model))
  if (!family) drop('reasoning_effort')
  return family?.fields(effort, body, model, drop) ?? {}
}

function claudeFields(body: ChatRequest, model: string, drop: Drop): JsonRecord {
  const limit = body.max_completion_tokens ?? body.max_tokens
  const { thinking, effort } = thinkingFields(body, model, typeof limit === 'number' ? limit : undefined, drop)
  return { ...(thinking ? { thinking } : {}), ...(effort === undefined ? {} : { output_config: { effort } }) }
}
