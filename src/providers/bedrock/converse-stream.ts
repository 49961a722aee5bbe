import { type AwsEvent, awsEventSplitter } from '../../lib/bytes/aws-event-stream.ts'
import { GatewayError } from '../../lib/errors.ts'
import { asRecord, asText, entryOf, isRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ChatDelta, FinishReason, ThinkingBlock } from '../../modes/chat-completion.ts'
import type { StreamReader, StreamStep } from '../provider.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { exception } from './bedrock-failure.ts'
import { bedrockUsage } from './bedrock-usage.ts'
import { converseFinish, stoppedAt } from './converse-finish.ts'
import { converseIdentity } from './converse-reply.ts'

interface Thought {
  thinking: string
  signature?: string
  redacted?: string
}

/** The events of ConverseStream as chunks. */
export function converseStream(headers: Readonly<Record<string, string>>, model: string): StreamReader {
  const split = awsEventSplitter()
  const identity = { ...converseIdentity(headers, model), object: 'chat.completion.chunk' as const }
  /** The indexes of tool calls by the index of their block. */
  const calls = new Map<unknown, number>()
  /** The blocks of tool calls that have no arguments so far. */
  const bare = new Set<unknown>()
  const thoughts = new Map<unknown, Thought>()
  let hasContent = false

  const chunk = (delta: ChatDelta, finish_reason: FinishReason | null = null): StreamStep => ({
    chunk: { ...identity, choices: [{ index: 0, delta, finish_reason }] },
  })
  const generated = (characters: number, delta: ChatDelta): StreamStep => {
    hasContent ||= delta.content != null || delta.tool_calls !== undefined
    return { ...chunk(delta), characters }
  }

  /** By the name of the event. */
  const readers: Readonly<Record<string, (event: JsonRecord) => StreamStep | undefined>> = {
    messageStart: () => chunk({ role: 'assistant', content: '' }),
    contentBlockStart({ start, contentBlockIndex }) {
      const { toolUse } = asRecord(start)
      if (!isRecord(toolUse)) return undefined
      const index = calls.size
      calls.set(contentBlockIndex, index)
      bare.add(contentBlockIndex)
      const name = asText(toolUse.name)
      const call = {
        index,
        id: asText(toolUse.toolUseId),
        type: 'function',
        function: { name, arguments: '' },
      } as const
      return { ...generated(name.length, { tool_calls: [call] }), commits: true }
    },
    contentBlockDelta({ delta, contentBlockIndex }) {
      const { text, toolUse, reasoningContent } = asRecord(delta)
      if (typeof text === 'string') return generated(text.length, { content: text })
      if (isRecord(toolUse)) {
        const fragment = asText(toolUse.input)
        const index = calls.get(contentBlockIndex)
        if (index === undefined) return { malformed: true }
        if (fragment !== '') bare.delete(contentBlockIndex)
        return generated(fragment.length, { tool_calls: [{ index, function: { arguments: fragment } }] })
      }
      return isRecord(reasoningContent) ? think(contentBlockIndex, reasoningContent) : undefined
    },
    contentBlockStop({ contentBlockIndex }) {
      const index = calls.get(contentBlockIndex)
      // A call without arguments comes without fragments; in chat its arguments are still JSON.
      if (index !== undefined && bare.delete(contentBlockIndex)) {
        return generated(2, { tool_calls: [{ index, function: { arguments: '{}' } }] })
      }
      const thought = thoughts.get(contentBlockIndex)
      thoughts.delete(contentBlockIndex)
      return thought && chunk({ thinking_blocks: [blockOf(thought)] })
    },
    messageStop({ stopReason, additionalModelResponseFields: fields }) {
      const finish = converseFinish(stopReason, hasContent)
      if (finish instanceof GatewayError) return { failure: finish }
      const choice = { index: 0, delta: {}, finish_reason: finish, ...stoppedAt(fields) }
      return { chunk: { ...identity, choices: [choice] }, commits: true, finished: true }
    },
    metadata(event) {
      const usage = bedrockUsage(event.usage, event)
      if (!usage) return { done: true }
      return { chunk: { ...identity, choices: [], usage: wireUsage(usage) }, usage, done: true }
    },
  }

  function think(block: unknown, { text, signature, redactedContent }: JsonRecord): StreamStep | undefined {
    const thought = thoughts.get(block) ?? { thinking: '' }
    thoughts.set(block, thought)
    if (typeof signature === 'string') thought.signature = (thought.signature ?? '') + signature
    if (typeof redactedContent === 'string') thought.redacted = (thought.redacted ?? '') + redactedContent
    if (typeof text !== 'string') return undefined
    thought.thinking += text
    return generated(text.length, { reasoning_content: text })
  }

  function read({ headers: { ':message-type': kind, ...names }, payload }: AwsEvent): StreamStep {
    const body = parseRecord(payload)
    if (kind === 'exception') return { failure: exception(names[':exception-type'] ?? '', asText(body?.message)) }
    if (kind === 'error') return { failure: exception(names[':error-code'] ?? '', names[':error-message'] ?? '') }
    if (!body) return { malformed: true }
    // Unknown events are ignored.
    return entryOf(readers, names[':event-type'])?.(body) ?? {}
  }

  return {
    push: (piece) =>
      split(piece).map((event) => {
        if (event === 'damaged') return { malformed: true }
        if (event === 'lost') {
          return { failure: new GatewayError('upstream_malformed', "The provider's stream could not be read.") }
        }
        return read(event)
      }),
  }
}

function blockOf({ thinking, signature, redacted }: Thought): ThinkingBlock {
  if (redacted !== undefined) return { type: 'redacted_thinking', data: redacted }
  return { type: 'thinking', thinking, ...(signature === undefined ? {} : { signature }) }
}
