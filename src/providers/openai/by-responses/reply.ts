import { latin1Text } from '../../../lib/bytes/latin1.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ChatCompletion, FinishReason, ToolCall } from '../../../modes/chat-completion.ts'
import type { Reply } from '../../provider.ts'
import { wireUsage } from '../../wire/wire-usage.ts'
import { responsesFailure } from '../responses-failure.ts'
import { responsesUsage } from '../responses-usage.ts'
import { citationsIn } from './annotations.ts'
import { reasoningBlocks, summaryText } from './own-reasoning.ts'

const HEAD_BYTES = 256
const RESPONSE = /^\s*\{[^{[]*"object"\s*:\s*"response"/

/** Whether an answer is one of Responses. */
export function isResponse(bytes: Uint8Array): boolean {
  return RESPONSE.test(latin1Text(bytes.subarray(0, HEAD_BYTES)))
}

/** A response as a chat completion. */
export function responsesReply(bytes: Uint8Array, reader: string): Reply {
  const response = parseRecord(bytes)
  const failure = response && responsesFailure(response)
  if (failure) throw failure
  if (!Array.isArray(response?.output)) {
    throw new GatewayError('upstream_malformed', "The provider's answer is not a response.")
  }
  const items = asList(response.output).map(asRecord)
  const parts = partsOf(response)
  const content = textIn(response)
  const annotations = citationsIn(response.output, content)
  const refusal = parts.map((part) => asText(part.refusal)).join('')
  const thoughts = items.filter(({ type }) => type === 'reasoning')
  const thought = thoughts.map(({ summary }) => summaryText(summary)).join('\n\n')
  const blocks = thoughts.flatMap((item) => reasoningBlocks(item, reader))
  const calls = items.filter(({ type }) => type === 'function_call').map(callOf)
  if (content === '' && refusal === '' && calls.length === 0 && response.status !== 'incomplete') {
    throw new GatewayError('unusable_answer', "The provider's answer is empty.")
  }
  const usage = responsesUsage(response)
  const completion: ChatCompletion = {
    ...identityOf(response),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' ? null : content,
          ...(refusal === '' ? {} : { refusal }),
          ...(thought === '' ? {} : { reasoning_content: thought }),
          ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
          ...(annotations.length === 0 ? {} : { annotations }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: finishOf(response, calls.length > 0),
      },
    ],
    ...(usage ? { usage: wireUsage(usage) } : {}),
  }
  return { completion, usage, outputCharacters: usage ? 0 : content.length + refusal.length }
}

/** The parts of the messages in a response. */
const partsOf = ({ output }: JsonRecord): JsonRecord[] =>
  asList(output)
    .map(asRecord)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => asList(content).map(asRecord))

/** The text of a response. */
export const textIn = (response: JsonRecord): string =>
  partsOf(response)
    .map(({ text }) => asText(text))
    .join('')

/** What chat knows of a response. Its id would name an answer that is not kept. */
export function identityOf({ model, created_at }: JsonRecord) {
  return { id: '', created: typeof created_at === 'number' ? Math.floor(created_at) : 0, model: asText(model) }
}

export function finishOf({ status, incomplete_details }: JsonRecord, calls: boolean): FinishReason {
  if (status === 'incomplete') {
    return asRecord(incomplete_details).reason === 'content_filter' ? 'content_filter' : 'length'
  }
  return calls ? 'tool_calls' : 'stop'
}

function callOf({ call_id, name, arguments: written }: JsonRecord): ToolCall {
  return { id: asText(call_id), type: 'function', function: { name: asText(name), arguments: asText(written) || '{}' } }
}
