import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { hasCacheMarks, withoutCacheMarks } from '../wire/fitting/plain-conversation.ts'
import type { Turn } from './converse-messages.ts'

const EVERYWHERE = /anthropic\.claude/
const IN_CONVERSATIONS = /amazon\.nova/

/** A request with the cache marks that its model takes: Claude takes them everywhere, Nova in the conversation alone, and
 *  other models refuse them. */
export function withMarksFor(body: ChatRequest, model: string, drop: Drop): ChatRequest {
  if (EVERYWHERE.test(model) || !hasCacheMarks(body)) return body
  const { messages, tools } = body
  const keeps = IN_CONVERSATIONS.test(model)
  if (keeps && !hasCacheMarks({ ...body, messages: [] })) return body
  drop('cache_control')
  return {
    ...body,
    messages: keeps ? messages : withoutCacheMarks(messages),
    ...(tools ? { tools: withoutCacheMarks(tools) } : {}),
  }
}

/** Blocks with cache points that last as long as the model allows: only Claude's can be told. */
export function withUsualTime(blocks: Turn['content'], model: string): Turn['content'] {
  if (EVERYWHERE.test(model)) return blocks
  return blocks.map((block) => (block.cachePoint ? { cachePoint: { type: 'default' } } : block))
}
