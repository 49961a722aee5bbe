import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { ChatCompletion } from '../../../modes/chat-completion.ts'
import { responseUsage } from './document.ts'
import { openText, sealText } from './opaque-text.ts'

const MARK = 'compaction:'

const ORDER = `Compact the conversation above. Write what is needed to go on with it as if all of it were known: the
user's goals and wishes, decisions, facts, names, numbers, identifiers, results of tools, and what is still to be done.
Answer with that summary alone.`

/** Whether a request wants its conversation compacted instead of answered. */
export const isCompacting = ({ input }: { readonly input?: unknown }): boolean =>
  asRecord(asList(input).at(-1)).type === 'compaction_trigger'

/** The request for a summary of a conversation. */
export function compacting(chat: ChatRequest): ChatRequest {
  const {
    tools: _tools,
    tool_choice: _choice,
    parallel_tool_calls: _parallel,
    response_format: _format,
    ...rest
  } = chat
  return { ...rest, messages: [...chat.messages, { role: 'user', content: ORDER }] }
}

/** A summary as the item that stands for the conversation. */
export function compacted({ created, choices, usage }: ChatCompletion): object {
  return {
    id: newId('resp'),
    object: 'response.compaction',
    created_at: created,
    output: [compactionItem(newId('cmp'), asText(choices[0]?.message?.content))],
    usage: responseUsage(usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  }
}

export function compactionItem(id: string, summary: string): object {
  if (summary === '') throw new GatewayError('unusable_answer', 'The model gave no summary.')
  return { id, type: 'compaction', encrypted_content: MARK + sealText(summary) }
}

/** What a compaction of the gateway's says, as a message of the user's; undefined for one that a provider has made. */
export function compactionMessage({ encrypted_content }: JsonRecord): JsonRecord | undefined {
  const sealed = asText(encrypted_content)
  const summary = sealed.startsWith(MARK) ? openText(sealed.slice(MARK.length)) : undefined
  if (typeof summary !== 'string') return undefined
  return { type: 'message', role: 'user', content: `A summary of the conversation so far:\n\n${summary}` }
}
