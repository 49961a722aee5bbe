import { describe, expect, it } from 'vitest'
import { messagesTurns } from '../../src/providers/anthropic/messages-turns.ts'
import { converseMessages } from '../../src/providers/bedrock/converse-messages.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

/** Both vendors refuse a turn without content and a text without letters; OpenAI takes them. */
describe('a turn in which nothing is said is left out', () => {
  const silences = [
    assistant(''),
    assistant(null),
    assistant([]),
    assistant(' \n'),
    assistant([{ type: 'text', text: '\n' }]),
  ]

  it.each(silences)('of the Messages API: %j', (silence) => {
    const { messages } = messagesTurns([user('One'), silence, user('Two')])
    const text = (words: string) => ({ type: 'text', text: words })
    expect(messages).toEqual([{ role: 'user', content: [text('One'), text('Two')] }])
  })

  it.each(silences)('of Converse: %j', (silence) => {
    const { messages } = converseMessages([user('One'), silence, user('Two')])
    expect(messages).toEqual([{ role: 'user', content: [{ text: 'One' }, { text: 'Two' }] }])
  })
})
