import { describe, expect, it } from 'vitest'
import { messagesTurns } from '../../src/providers/anthropic/messages-turns.ts'
import { converseMessages } from '../../src/providers/bedrock/converse-messages.ts'
import { withoutSilence } from '../../src/providers/wire/fitting/plain-conversation.ts'

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

/** Mistral and Cohere refuse an answer with neither words nor calls: clients send one back that was cut while it was
 *  thought. */
describe('an answer that says nothing is left out at vendors of chat', () => {
  const turns = (answer: object) => [user('One'), { role: 'assistant', ...answer }, user('Two')]
  const thought = { content: '', reasoning_content: 'Hm.' }

  it.each([{ content: '' }, { content: null }, {}, { content: [] }, { content: [{ type: 'text', text: '' }] }])(
    '%j',
    (silence) => {
      expect(withoutSilence(turns(silence), true)).toEqual([user('One'), user('Two')])
    },
  )

  it('though it was thought, where the vendor takes no thoughts', () => {
    expect(withoutSilence(turns(thought), false)).toEqual([user('One'), user('Two')])
    expect(withoutSilence(turns(thought), true)).toHaveLength(3)
  })

  it.each([
    { content: 'Hi' },
    { content: null, tool_calls: [{ id: 'c1' }] },
    { content: null, refusal: 'No.' },
    { content: null, audio: { id: 'a' } },
    { content: [{ type: 'refusal', refusal: 'No.' }] },
  ])('but not %j', (answer) => {
    const given = turns(answer)
    expect(withoutSilence(given, false)).toBe(given)
  })
})
