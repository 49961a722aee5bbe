import { expect, it } from 'vitest'
import { messagesDialect } from '../../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import type { ChatCompletion } from '../../../src/modes/chat-completion.ts'
import { responseObject } from '../../support/open-responses.ts'

const ended = (finish_reason: string) =>
  ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason }],
  }) as unknown as ChatCompletion

it.each([
  ['stop', 'end_turn', 'completed'],
  ['length', 'max_tokens', 'incomplete'],
  ['eos', 'end_turn', 'completed'],
  ['constructor', 'end_turn', 'completed'],
  ['__proto__', 'end_turn', 'completed'],
])('an answer that ends with %s ends properly in every dialect', (finish, stop_reason, status) => {
  const messages = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] }
  expect(JSON.parse(JSON.stringify(messagesDialect.fromChat(ended(finish), messages)))).toMatchObject({ stop_reason })
  const response = responsesDialect.fromChat(ended(finish), { model: 'm', input: 'Hi' })
  expect(JSON.parse(JSON.stringify(response))).toMatchObject({ status })
})

it('what a vendor leaves out of citations and logprobs is there in a response', () => {
  const answer = ended('stop')
  const [choice] = answer.choices
  const url_citation = { url: 'https://a.example/' }
  const content = [{ token: 'Hi', logprob: -1, bytes: null, top_logprobs: [{ token: 'Hi', logprob: -1 }] }]
  const told = {
    ...answer,
    choices: [
      {
        ...choice,
        message: { ...choice?.message, annotations: [{ type: 'url_citation', url_citation }] },
        logprobs: { content: [...content, { token: '!', logprob: -1 }] },
      },
    ],
  } as unknown as ChatCompletion
  const { output } = responseObject.parse(responsesDialect.fromChat(told, { model: 'm', input: 'Hi' }))
  expect(output).toMatchObject([
    {
      content: [
        {
          annotations: [{ ...url_citation, title: '', start_index: 0, end_index: 0 }],
          logprobs: [
            { bytes: [], top_logprobs: [{ bytes: [] }] },
            { bytes: [], top_logprobs: [] },
          ],
        },
      ],
    },
  ])
})

it.each([
  ['flex', 'flex'],
  [undefined, 'priority'],
  [null, 'priority'],
])('a response says the tier of service that its provider names: %s', (service_tier, tier) => {
  const request = { model: 'm', input: 'Hi', service_tier: 'priority', max_tool_calls: 3 }
  const whole = responsesDialect.fromChat({ ...ended('stop'), service_tier }, request)
  expect(responseObject.parse(whole)).toMatchObject({ service_tier: tier, max_tool_calls: 3 })
})
