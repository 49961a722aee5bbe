import { expect, it } from 'vitest'
import { newAnswerSoFar } from '../../../../src/pipeline/attempt/answer-so-far.ts'
import { asked, callOf, heard, heardEvents, written } from '../../../support/translations.ts'

// https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks
const model = 'openrouter/google/gemini-3-flash-preview'
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const text = { type: 'reasoning.text', text: 'Grüß Gott.', format: 'google-gemini-v1', index: 0 }
const sealed = { type: 'reasoning.encrypted', data: 'Abc', id: 'c1', format: 'google-gemini-v1', index: 0 }
const details = [text, sealed]
const message = {
  role: 'assistant',
  content: null,
  reasoning: text.text,
  reasoning_details: details,
  tool_calls: [call],
}
const says = { id: 'g1', model, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
const cases = [{ name: '', model, sends: {} }] as const

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'g1',
  model,
  choices: [{ index: 0, delta, finish_reason }],
})
const STREAMS = {
  'before the call': [
    chunk({ reasoning: 'Grüß', reasoning_details: [{ ...text, text: 'Grüß' }] }),
    chunk({ reasoning: ' Gott.', reasoning_details: [{ ...text, text: ' Gott.' }] }),
    chunk({ reasoning_details: [sealed], tool_calls: [{ index: 0, ...call }] }),
    chunk({}, 'tool_calls'),
  ],
  'behind the call': [
    chunk({ reasoning: text.text, reasoning_details: [text] }),
    chunk({ content: '', tool_calls: [{ index: 0, ...call }] }),
    chunk({ reasoning_details: [sealed] }),
    chunk({ content: '' }, 'tool_calls'),
  ],
}

interface BlockEvent {
  readonly type: string
  readonly index: number
  readonly content_block: object
  readonly delta: Readonly<Record<string, string>>
}

const USER = { role: 'user', content: 'Go' }
const RESULT = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] }

/** What the vendor is asked, as far as it is the model's turn, when a client sends it back. */
async function sentBack(dialect: string, sends: object): Promise<Record<string, unknown> | undefined> {
  const file = { model, cases }
  const body = (await asked(callOf(dialect, file, { name: '', sends: { ...sends } }, false))) as {
    messages: Record<string, unknown>[]
  }
  return body.messages.find(({ role }) => role === 'assistant')
}

const messages = { max_tokens: 9, messages: [USER] }
const backInMessages = (content: unknown) =>
  sentBack('messages-', { ...messages, messages: [USER, { role: 'assistant', content }, RESULT] })
const expected = { role: 'assistant', content: null, tool_calls: [call], reasoning_details: details }

it('what OpenRouter wants back of a whole answer comes back by way of Messages', async () => {
  const { answer } = heard(callOf('messages-', { model, cases }, { name: '', sends: messages }, false), says)
  expect(await backInMessages(answer.content)).toEqual(expected)
})

it('the same by way of Responses', async () => {
  const { answer } = heard(callOf('responses-', { model, cases }, { name: '', sends: { input: 'Go' } }, false), says)
  const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
  const input = [{ role: 'user', content: 'Go' }, ...(answer.output as object[]), output]
  expect(await sentBack('responses-', { input })).toEqual(expected)
})

it.each(Object.entries(STREAMS))('the same of a stream, %s', async (_, chunks) => {
  const bytes = written(model, chunks)
  const { events } = heardEvents(callOf('messages-', { model, cases }, { name: '', sends: messages }, true), bytes, 7)
  const content: Record<string, unknown>[] = []
  for (const { type, index, content_block, delta } of events as unknown as BlockEvent[]) {
    if (type === 'content_block_start') content[index] = { ...content_block }
    if (type !== 'content_block_delta') continue
    const { thinking = '', signature = '' } = delta
    const before = content[index]
    if (before?.type === 'thinking') {
      content[index] = {
        ...before,
        thinking: `${before.thinking}${thinking}`,
        signature: `${before.signature}${signature}`,
      }
    }
  }
  expect(content.map(({ type }) => type)).toContain('tool_use')
  expect(await backInMessages(content)).toEqual(expected)
})

it('what any model could have written is no signed thought', () => {
  const plain = { ...message, reasoning_details: [text] }
  const { answer } = heard(callOf('messages-', { model, cases }, { name: '', sends: messages }, false), {
    ...says,
    choices: [{ index: 0, message: plain, finish_reason: 'tool_calls' }],
  })
  expect(answer.content).toContainEqual({ type: 'thinking', thinking: text.text, signature: 'gateway:unsigned' })
})

it.each([
  [{ type: 'reasoning.text', text: 'Hm.' }, true],
  [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }, false],
  [{ type: 'reasoning.encrypted', data: 'c2ln' }, false],
])('an answer that begins with %j can be continued elsewhere: %s', (detail, expected) => {
  const answer = newAnswerSoFar()
  const delta = { reasoning_details: [detail] } as object
  const head = { id: 'c', object: 'chat.completion.chunk' as const, created: 1, model: 'm' }
  answer.add({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })
  expect(answer.continuable).toBe(expected)
})
