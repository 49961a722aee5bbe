import { isRecord, type JsonRecord } from '../../lib/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { unspoken } from '../unspoken-fields.ts'

/** Tokens to think with, for models that are told a number. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 24_576 }

/** How the families of models on Bedrock are asked to reason; Converse itself has no word for it. */
const FAMILIES: readonly { readonly of: RegExp; effort(effort: string): JsonRecord | undefined }[] = [
  {
    of: /anthropic\./,
    effort: (effort) => {
      if (effort === 'none') return { thinking: { type: 'disabled' } }
      const budget_tokens = BUDGETS[effort]
      return budget_tokens === undefined ? undefined : { thinking: { type: 'enabled', budget_tokens } }
    },
  },
  {
    of: /amazon\.nova-2/,
    effort: (effort) =>
      effort === 'none'
        ? { reasoningConfig: { type: 'disabled' } }
        : { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } },
  },
  { of: /openai\.|deepseek\.|qwen\.|moonshot|minimax|zai\./, effort: (effort) => ({ reasoning_effort: effort }) },
]

export function reasoningFields({ reasoning_effort: effort, thinking }: ChatRequest, model: string): JsonRecord {
  if (isRecord(thinking)) return { thinking }
  if (typeof effort !== 'string') return {}
  const fields = FAMILIES.find(({ of }) => of.test(model))?.effort(effort)
  if (!fields) throw unspoken('reasoning_effort', 'what this model of Bedrock takes')
  return fields
}
