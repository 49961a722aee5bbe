import { digestOf } from '../../../lib/crypto.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import { isSecret, reveal } from '../../../lib/secret.ts'
import type { ThinkingBlock } from '../../../modes/chat-completion.ts'
import type { Connection } from '../../provider.ts'

/** The prefix of reasoning that OpenAI's models have encrypted, in `thinking_blocks`: each vendor refuses that of others. */
const PREFIX = 'openai:'
const MARK_DIGITS = 16

/** Who can read the reasoning of a connection's model, as a mark: that model of that account at that address. */
export function readerOf({ origin, model, headers }: Connection): string {
  const told = Object.entries(headers).map(([name, value]) => [name, isSecret(value) ? reveal(value) : value])
  return digestOf(JSON.stringify([origin, model, told])).slice(0, MARK_DIGITS)
}

/** An item of reasoning as the blocks that clients send back, if the provider has encrypted it for its reader. */
export function reasoningBlocks({ summary, encrypted_content: sealed }: JsonRecord, reader: string): ThinkingBlock[] {
  if (typeof sealed !== 'string' || sealed === '') return []
  return [{ type: 'thinking', thinking: summaryText(summary), signature: `${PREFIX}${reader}:${sealed}` }]
}

/** The items of reasoning among the blocks of a message which that reader can read. */
export function reasoningItems({ thinking_blocks }: JsonRecord, reader: string): JsonRecord[] {
  const own = `${PREFIX}${reader}:`
  return asList(thinking_blocks).flatMap((block) => {
    const { thinking, signature } = asRecord(block)
    if (!asText(signature).startsWith(own)) return []
    const summary = thinking ? [{ type: 'summary_text', text: thinking }] : []
    return [{ type: 'reasoning', summary, encrypted_content: asText(signature).slice(own.length) }]
  })
}

export const summaryText = (summary: unknown): string =>
  asList(summary)
    .map((part) => asText(asRecord(part).text))
    .join('\n\n')
