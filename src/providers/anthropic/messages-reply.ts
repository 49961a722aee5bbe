import { GatewayError } from '../../lib/errors.ts'
import { exactRecord } from '../../lib/json/exact-json.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { AssistantMessage, ThinkingBlock, ToolCall, UrlCitation } from '../../modes/chat-completion.ts'
import type { Reply } from '../provider.ts'
import { answeredAt } from '../wire/connection/answered-at.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { finishReason } from './finish-reason.ts'
import { messagesEmbeddedFailure } from './messages-failure.ts'
import { refusal } from './messages-stream.ts'
import { messagesUsage } from './messages-usage.ts'
import { urlCitations } from './url-citations.ts'

/** Reads a whole answer of the Messages API as a chat completion. */
export function messagesReply(bytes: Uint8Array, headers: Readonly<Record<string, string>>): Reply {
  const message = readMessage(bytes)
  const blocks = asList(message.content).map(asRecord)
  if (message.stop_reason === 'refusal' && blocks.length === 0) throw refusal(message)
  const usage = messagesUsage(message.usage)
  return {
    completion: {
      id: asText(message.id),
      object: 'chat.completion',
      created: answeredAt(headers),
      model: asText(message.model),
      choices: [{ index: 0, message: assistantMessage(blocks), finish_reason: finishReason(message.stop_reason) }],
      ...(usage ? { usage: wireUsage(usage) } : {}),
    },
    usage,
    outputCharacters: charactersOf(blocks),
  }
}

/** Parses a whole answer; throws `upstream_malformed` for anything else. */
export function readMessage(bytes: Uint8Array): JsonRecord {
  const message = exactRecord(bytes)
  if (message?.type === 'error') throw messagesEmbeddedFailure(message.error)
  if (message && Array.isArray(message.content)) return message
  throw new GatewayError('upstream_malformed', "The provider's answer is not a message.")
}

export function charactersOf(blocks: readonly JsonRecord[]): number {
  return blocks.reduce((sum, { text, thinking, input }) => {
    const called = input === undefined ? 0 : JSON.stringify(input).length
    return sum + asText(text).length + asText(thinking).length + called
  }, 0)
}

/** Blocks without an equivalent in chat, such as the results of the vendor's own tools, are dropped. */
function assistantMessage(blocks: readonly JsonRecord[]): AssistantMessage {
  let text = ''
  const annotations: UrlCitation[] = []
  for (const block of blocks) {
    if (block.type !== 'text') continue
    const begun = text.length
    text += asText(block.text)
    annotations.push(...urlCitations(block.citations, begun, text.length))
  }
  const reasoning = blocks.map((block) => (block.type === 'thinking' ? asText(block.thinking) : '')).join('')
  const thinking_blocks = blocks.flatMap(thinkingBlock)
  const tool_calls = blocks.flatMap(toolCall)
  return {
    role: 'assistant',
    content: text === '' && tool_calls.length > 0 ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(thinking_blocks.length === 0 ? {} : { thinking_blocks }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  }
}

function thinkingBlock({ type, thinking, signature, data }: JsonRecord): ThinkingBlock[] {
  if (type === 'redacted_thinking') return [{ type, data: asText(data) }]
  if (type !== 'thinking') return []
  return [{ type, thinking: asText(thinking), ...(signature ? { signature: asText(signature) } : {}) }]
}

function toolCall({ type, id, name, input }: JsonRecord): ToolCall[] {
  if (type !== 'tool_use') return []
  return [
    {
      id: asText(id),
      type: 'function',
      function: { name: asText(name), arguments: JSON.stringify(asRecord(input)) },
    },
  ]
}
