import type { GatewayError } from '../../lib/errors.ts'
import { matchesBehind } from '../../lib/json/lazy-json.ts'
import { asList, asRecord, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Rewrite } from '../provider.ts'
import { editing } from '../wire/fitting/edited-request.ts'
import { isOwnThought } from '../wire/fitting/own-thinking.ts'
import { mayHaveStrangeIds, withOwnIds } from './own-ids.ts'

/** The `signature` of a thought that Claude has not signed: none, or one with another vendor's prefix. */
const FOREIGN = /^\s*:\s*"("|[a-z]+:)/

/** The changes of a request that is relayed, so that Claude goes on with what models of other vendors have answered: it
 *  refuses their thoughts, some of their ids, and to think on after calls before which it did not think. */
export function ownTurns(body: ModelRequest): JsonRecord {
  if (matchesBehind(body, 'messages', 'signature', FOREIGN) === false && !mayHaveStrangeIds(body)) return {}
  const before = asList(body.messages).map(asRecord)
  const messages = before.map(withOwnIds)
  if (!messages.some((message) => asList(message.content).some(isForeign))) {
    return messages.some((message, index) => message !== before[index]) ? { messages } : {}
  }
  return withoutBlocks(body, messages, isForeign)
}

/** What is said of a thought whose signature cannot be read: of a vendor that signs as Claude does, without a prefix, or
 *  of another conversation. */
const UNREADABLE = /invalid `?signature`? in `?thinking`? block|thinking` blocks .{0,40} cannot be modified/i

export const isAboutThoughts = ({ failure, message }: GatewayError): boolean =>
  failure === 'upstream_rejected' && UNREADABLE.test(message)

/** Leaves the thoughts of earlier turns out of a request that was refused because of one. */
export function withoutThoughts(failure: GatewayError): Rewrite | undefined {
  if (!isAboutThoughts(failure)) return undefined
  return editing((body) => withoutBlocks(body, asList(body.messages).map(asRecord), isThought))
}

/** The changes that leave some blocks of the turns out, and turns that have no others. */
function withoutBlocks(
  body: JsonRecord,
  messages: readonly JsonRecord[],
  isLeftOut: (block: unknown) => boolean,
): JsonRecord {
  const own = messages.flatMap((message) => {
    if (!Array.isArray(message.content)) return [message]
    const content = message.content.filter((block) => !isLeftOut(block))
    return content.length > 0 ? [{ ...message, content }] : []
  })
  return { messages: own, ...(continuesUnthought(own) ? withoutThinking(body) : {}) }
}

const isForeign = (block: unknown) => asRecord(block).type === 'thinking' && !isOwnThought(asRecord(block))

const isThought = (block: unknown) => /^(redacted_)?thinking$/.test(String(asRecord(block).type))

const typesIn = ({ content }: JsonRecord) => asList(content).map((block) => asRecord(block).type)

/** Whether the calls that the newest results are of began without a thought. */
function continuesUnthought(messages: readonly JsonRecord[]): boolean {
  const begun = messages.findLastIndex(
    (message) => message.role === 'user' && !typesIn(message).includes('tool_result'),
  )
  return messages.slice(begun + 1).some((message) => {
    const types = typesIn(message)
    return message.role === 'assistant' && types.includes('tool_use') && !String(types[0]).endsWith('thinking')
  })
}

/** A model that is told how much to think is told not to; others decide for themselves. */
function withoutThinking({ thinking, context_management: management }: JsonRecord): JsonRecord {
  if (asRecord(thinking).type !== 'enabled') return {}
  if (!isRecord(management)) return { thinking: { type: 'disabled' } }
  // What removes thoughts is refused where there are none.
  const edits = asList(management.edits).filter((edit) => !String(asRecord(edit).type).startsWith('clear_thinking'))
  return { thinking: { type: 'disabled' }, context_management: { ...management, edits } }
}
