import { expect, it } from 'vitest'
import { messagesOf } from '../../src/api/dialects/responses/messages.ts'
import { joinBytes } from '../../src/lib/bytes/bytes.ts'
import { messagesTurns } from '../../src/providers/anthropic/messages-turns.ts'
import { converseMessages } from '../../src/providers/bedrock/converse-messages.ts'
import { converseStream } from '../../src/providers/bedrock/converse-stream.ts'
import { cohereMessages } from '../../src/providers/cohere/cohere-messages.ts'
import { cohereStream } from '../../src/providers/cohere/cohere-stream.ts'
import { conversationOf } from '../../src/providers/gemini/contents.ts'
import type { StreamReader } from '../../src/providers/provider.ts'
import { withObjectArguments } from '../../src/providers/wire/fitting/plain-conversation.ts'
import { awsEvent } from '../support/aws-events.ts'

/** What a client has put together of the arguments of each call. */
function argumentsIn(reader: StreamReader, bytes: Uint8Array): string[] {
  const written: string[] = []
  for (const { chunk } of reader.push(bytes)) {
    for (const { index, function: called } of chunk?.choices[0]?.delta.tool_calls ?? []) {
      written[index] = (written[index] ?? '') + (called?.arguments ?? '')
    }
  }
  return written
}

it('arguments that Bedrock says nothing of are an empty object', () => {
  const call = (contentBlockIndex: number, ...fragments: readonly string[]) => [
    awsEvent('contentBlockStart', {
      contentBlockIndex,
      start: { toolUse: { toolUseId: `${contentBlockIndex}`, name: 'now' } },
    }),
    ...fragments.map((input) => awsEvent('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input } } })),
    awsEvent('contentBlockStop', { contentBlockIndex }),
  ]
  const bytes = joinBytes([...call(0), ...call(1, ''), ...call(2, '{"a"', ':1}')])
  expect(argumentsIn(converseStream({}, 'm'), bytes)).toEqual(['{}', '{}', '{"a":1}'])
})

it('arguments that Cohere says nothing of are an empty object', () => {
  const event = (type: string, index: number, tool_calls: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, index, delta: { message: { tool_calls } } })}\n\n`
  const call = (index: number, begun: string, ...fragments: readonly string[]) =>
    event('tool-call-start', index, { id: `${index}`, type: 'function', function: { name: 'now', arguments: begun } }) +
    fragments.map((one) => event('tool-call-delta', index, { function: { arguments: one } })).join('') +
    event('tool-call-end', index, {})
  const bytes = new TextEncoder().encode(call(0, '') + call(1, '', '') + call(2, '', '{"a"', ':1}') + call(3, '{}'))
  expect(argumentsIn(cohereStream('m'), bytes)).toEqual(['{}', '{}', '{"a":1}', '{}'])
})

it.each([undefined, null, '', ' \n'])('arguments of %j go back to Bedrock as an empty object', (written) => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'now', arguments: written } }]
  const { messages } = converseMessages([{ role: 'assistant', content: null, tool_calls }])
  expect(messages.at(-1)?.content).toEqual([{ toolUse: { toolUseId: 'a', name: 'now', input: {} } }])
})

const object = [{ id: 'a', type: 'function', function: { name: 'now', arguments: { zone: 'UTC' } } }]
const calling = { role: 'assistant', content: null, tool_calls: object }

it('arguments that come as an object go back as they are', () => {
  expect(converseMessages([calling]).messages.at(-1)?.content).toMatchObject([{ toolUse: { input: { zone: 'UTC' } } }])
  expect(messagesTurns([calling]).messages[0]?.content).toMatchObject([{ type: 'tool_use', input: { zone: 'UTC' } }])
  expect(conversationOf([calling], 'gemini-2.5-pro').contents[0]?.parts).toMatchObject([
    { functionCall: { args: { zone: 'UTC' } } },
  ])
  expect(cohereMessages([calling])).toMatchObject([{ tool_calls: [{ function: { arguments: '{"zone":"UTC"}' } }] }])
  const item = { type: 'function_call', call_id: 'a', name: 'now', arguments: { zone: 'UTC' } }
  expect(messagesOf([item])).toMatchObject([{ tool_calls: [{ function: { arguments: '{"zone":"UTC"}' } }] }])
})

it.each([[3], ['[]'], [['a']], ['{"zone":"Eur']])('arguments of %j go back as something unparsed', (written) => {
  const message = { ...calling, tool_calls: [{ ...object[0], function: { name: 'now', arguments: written } }] }
  const told = { unparsed: written }
  const text = [{ tool_calls: [{ id: 'a', function: { name: 'now', arguments: JSON.stringify(told) } }] }]
  expect(converseMessages([message]).messages.at(-1)?.content).toMatchObject([{ toolUse: { input: told } }])
  expect(messagesTurns([message]).messages[0]?.content).toMatchObject([{ type: 'tool_use', input: told }])
  expect(conversationOf([message], 'gemini-2.5-pro').contents[0]?.parts).toMatchObject([
    { functionCall: { args: told } },
  ])
  expect(cohereMessages([message])).toMatchObject(text)
  expect(withObjectArguments([message])).toMatchObject(text)
})

it('a conversation whose calls have objects is the same for vendors of chat', () => {
  const custom = { id: 'b', type: 'custom', custom: { name: 'patch', input: 'x' } }
  const called = { id: 'a', type: 'function', function: { name: 'now', arguments: '{"zone":1234567890123456789}' } }
  const messages = [{ role: 'assistant', content: null, tool_calls: [called, custom] }]
  expect(withObjectArguments(messages)).toBe(messages)
})

it.each([undefined, null, '', ' \n'])('arguments of %j go back to Cohere as the text of an empty object', (written) => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'now', arguments: written } }]
  expect(cohereMessages([{ role: 'assistant', content: null, tool_calls }])).toEqual([
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'now', arguments: '{}' } }] },
  ])
})
