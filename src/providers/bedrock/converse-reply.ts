import { GatewayError } from '../../lib/errors.ts'
import { exactRecord } from '../../lib/json/exact-json.ts'
import { asRecord, asText, isRecord } from '../../lib/json/lenient.ts'
import type { AssistantMessage, ThinkingBlock, ToolCall } from '../../modes/chat-completion.ts'
import type { Reply } from '../provider.ts'
import { answeredAt } from '../wire/connection/answered-at.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { embeddedFailure } from './bedrock-failure.ts'
import { bedrockUsage } from './bedrock-usage.ts'
import { converseFinish, stoppedAt } from './converse-finish.ts'

type Headers = Readonly<Record<string, string>>

/** The id, time and model of an answer, which are not in what Converse says. */
export function converseIdentity(headers: Headers, model: string) {
  const id = headers['x-amzn-requestid']
  return { id: id ? `chatcmpl-${id}` : '', created: answeredAt(headers), model }
}

/** A whole answer of Converse. */
export function converseReply(bytes: Uint8Array, headers: Headers, model: string): Reply {
  const body = exactRecord(bytes)
  const message = asRecord(body?.output).message
  if (!body || !isRecord(message) || !Array.isArray(message.content)) {
    throw (
      (body && embeddedFailure(body)) ??
      new GatewayError('upstream_malformed', "The provider's answer is not one of Converse.")
    )
  }
  const { text, reasoning, thinking_blocks, tool_calls } = read(message.content)
  const finish = converseFinish(body.stopReason, text !== '' || tool_calls.length > 0)
  if (finish instanceof GatewayError) throw finish
  const usage = bedrockUsage(body.usage, body)
  const answer: AssistantMessage = {
    role: 'assistant',
    content: text === '' && tool_calls.length > 0 ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(thinking_blocks.length === 0 ? {} : { thinking_blocks }),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  }
  return {
    completion: {
      ...converseIdentity(headers, model),
      object: 'chat.completion',
      choices: [{ index: 0, message: answer, finish_reason: finish, ...stoppedAt(body.additionalModelResponseFields) }],
      ...(usage ? { usage: wireUsage(usage) } : {}),
    },
    usage,
    outputCharacters: usage ? 0 : text.length + reasoning.length + JSON.stringify(tool_calls).length,
  }
}

function read(content: readonly unknown[]) {
  let text = ''
  let reasoning = ''
  const thinking_blocks: ThinkingBlock[] = []
  const tool_calls: ToolCall[] = []
  for (const block of content.map(asRecord)) {
    text += asText(block.text)
    if (isRecord(block.toolUse)) {
      const { toolUseId, name, input } = block.toolUse
      const call = { name: asText(name), arguments: JSON.stringify(input ?? {}) }
      tool_calls.push({ id: asText(toolUseId), type: 'function', function: call })
    }
    if (isRecord(block.reasoningContent)) {
      const { reasoningText, redactedContent } = block.reasoningContent
      if (typeof redactedContent === 'string')
        thinking_blocks.push({ type: 'redacted_thinking', data: redactedContent })
      if (!isRecord(reasoningText)) continue
      const thinking = asText(reasoningText.text)
      const { signature } = reasoningText
      reasoning += thinking
      thinking_blocks.push({ type: 'thinking', thinking, ...(typeof signature === 'string' ? { signature } : {}) })
    }
  }
  return { text, reasoning, thinking_blocks, tool_calls }
}
