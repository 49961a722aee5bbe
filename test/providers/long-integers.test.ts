import { describe, expect, it } from 'vitest'
import { fromChat } from '../../src/api/dialects/messages/from-chat.ts'
import { messagesReply } from '../../src/providers/anthropic/messages-reply.ts'
import { messagesTurns } from '../../src/providers/anthropic/messages-turns.ts'
import { converseMessages } from '../../src/providers/bedrock/converse-messages.ts'
import { converseReply } from '../../src/providers/bedrock/converse-reply.ts'
import { conversationOf } from '../../src/providers/gemini/contents.ts'
import { generateReply } from '../../src/providers/gemini/generate-reply.ts'
import type { Outgoing, Reply } from '../../src/providers/provider.ts'

/** Beyond the precision of a double, as are the ids of many services. */
const ARGUMENTS = '{"id":1234567890123456789,"others":[-9223372036854775808]}'

const encoded = (text: string) => new TextEncoder().encode(text)

describe('integers of 64 bits in the arguments of a call', () => {
  it.each<[string, (bytes: Uint8Array) => Reply, string]>([
    [
      'Anthropic',
      (bytes) => messagesReply(bytes, {}),
      `{"content":[{"type":"tool_use","id":"a","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use"}`,
    ],
    [
      'Bedrock',
      (bytes) => converseReply(bytes, {}, 'm'),
      `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":${ARGUMENTS}}}]}},"stopReason":"tool_use"}`,
    ],
    [
      'Gemini',
      (bytes) => generateReply(bytes, {}, { body: { model: 'm', messages: [] } } as unknown as Outgoing),
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}]}`,
    ],
  ])('come from %s as they are', (_, read, answer) => {
    expect(JSON.stringify(read(encoded(answer)).completion)).toContain(JSON.stringify(ARGUMENTS))
  })

  it('go to each as they are', () => {
    const tool_calls = [{ id: 'a', type: 'function' as const, function: { name: 'f', arguments: ARGUMENTS } }]
    const said = { role: 'assistant', content: null, tool_calls }
    for (const sent of [messagesTurns([said]), converseMessages([said]), conversationOf([said], 'gemini-2.5-pro')]) {
      expect(JSON.stringify(sent)).toContain(ARGUMENTS)
    }
    const choices = [
      { index: 0, message: { ...said, role: 'assistant' as const }, finish_reason: 'tool_calls' as const },
    ]
    const message = fromChat({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }, {})
    expect(JSON.stringify(message)).toContain(ARGUMENTS)
  })
})
