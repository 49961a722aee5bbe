import { isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { thinkingFields } from '../anthropic/thinking-fields.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

/** The reasoning fields of the model families; Converse itself has none. */
const FAMILIES: readonly {
  readonly of: RegExp
  fields(effort: unknown, body: ChatRequest, model: string): JsonRecord
}[] = [
  { of: /anthropic\.claude/, fields: (_, body, model) => claudeFields(body, model) },
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
export function reasoningFields(body: ChatRequest, model: string): JsonRecord {
  const { reasoning_effort: effort, thinking } = body
  if (isRecord(thinking)) return { thinking }
  if (effort == null) return {}
  const family = FAMILIES.find(({ of }) => of.test(model))
  if (!family) throw unsupported('reasoning_effort', 'what this model of Bedrock takes')
  return family.fields(effort, body, model)
}

function claudeFields(body: ChatRequest, model: string): JsonRecord {
  const limit = body.max_completion_tokens ?? body.max_tokens
  const { thinking, effort } = thinkingFields(body, model, typeof limit === 'number' ? limit : undefined)
  return { ...(thinking ? { thinking } : {}), ...(effort === undefined ? {} : { output_config: { effort } }) }
}
