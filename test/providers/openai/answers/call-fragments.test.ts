import { expect, it } from 'vitest'
import { callFragments } from '../../../../src/providers/openai/answers/call-fragments.ts'
import { openaiChatStream } from '../../../../src/providers/openai/chat-stream.ts'

const begins = (index: number | undefined, id: string, name: string) => ({
  index,
  id,
  function: { name, arguments: '' },
})
const goesOn = (index: number | undefined, id?: string) => ({ index, id, function: { arguments: 'x' } })

it.each([
  [
    'has one of its own already',
    [begins(0, 'a', 'f'), goesOn(0), begins(1, 'b', 'g'), goesOn(0), goesOn(1)],
    [0, 0, 1, 0, 1],
  ],
  ['is counted as the first', [begins(0, 'a', 'f'), goesOn(0), begins(0, 'b', 'g'), goesOn(0)], [0, 0, 1, 1]],
  ['has none', [begins(undefined, 'a', 'f'), goesOn(undefined), begins(undefined, 'b', 'g')], [0, 0, 1]],
  ['has another id in every fragment', [begins(0, 'a', 'f'), goesOn(0, 'b'), goesOn(0, 'c')], [0, 0, 0]],
])('a call that %s is told from its neighbours', (_, calls, expected) => {
  const indexed = callFragments()
  expect(calls.flatMap((call) => indexed([call])).map((call) => (call as { index: unknown }).index)).toEqual(expected)
})

it('calls with indexes of their own pass as they are', () => {
  const calls = [begins(0, 'a', 'f'), begins(1, 'b', 'g')]
  expect(callFragments()(calls)).toBe(calls)
})

it.each([
  ['empty', { id: '', name: '' }],
  ['repeated', { id: 'a', name: 'f' }],
  ['made anew', { id: 'z', name: undefined }],
])('an id and a name that are %s in later fragments are told once', (_, { id, name }) => {
  const told = callFragments()
  const later = { index: 0, id, function: { name, arguments: 'x' } }
  const [first, second] = [begins(0, 'a', 'f'), later].flatMap((fragment) =>
    JSON.parse(JSON.stringify(told([fragment]))),
  )
  expect([first, second]).toEqual([begins(0, 'a', 'f'), { index: 0, function: { arguments: 'x' } }])
})

it('an id and a name that come late pass as they are', () => {
  const told = callFragments()
  const fragments = [begins(0, '', ''), begins(0, 'a', ''), begins(0, '', 'f')]
  expect(fragments.flatMap((fragment) => told([fragment]))).toMatchObject([
    { id: '' },
    { id: 'a' },
    { function: { name: 'f' } },
  ])
})

it('a stream tells them apart to its end, however alike their fragments are', () => {
  const fragments = (letter: string) => Array.from({ length: 6 }, () => ({ index: 0, function: { arguments: letter } }))
  const sent = [begins(0, 'a', 'f'), ...fragments('x'), begins(0, 'b', 'g'), ...fragments('y')]
  const events = sent.map(
    (call) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })}`,
  )
  const steps = openaiChatStream({ hideUsage: false }).push(new TextEncoder().encode(`${events.join('\n\n')}\n\n`))
  const out = steps.map((step) => new TextDecoder().decode(step.out)).join('')
  const indexes = [...out.matchAll(/"tool_calls":\[\{"index":(\d)/g)].map(([, index]) => Number(index))
  expect(indexes).toEqual([...new Array<number>(7).fill(0), ...new Array<number>(7).fill(1)])
})

it.each([
  ['calls', { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"at":"Zürich 🙂"}' } }] }, {}],
  ['parts', { content: [{ type: 'text', text: 'Grüße 🙂' }] }, { textContent: true as const }],
])('a stream whose %s are written anew keeps every letter of them', (_, delta, options) => {
  const chunk = { system_fingerprint: 'fp_ü', choices: [{ index: 0, delta, finish_reason: null }], usage: null }
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`)
  const [step] = openaiChatStream({ hideUsage: true, ...options }).push(bytes)
  const { usage: _usage, ...shown } = chunk
  const expected =
    'tool_calls' in delta
      ? { tool_calls: delta.tool_calls?.map((call) => ({ ...call, index: 0 })) }
      : { content: 'Grüße 🙂' }
  expect(JSON.parse(new TextDecoder().decode(step?.out).slice('data: '.length))).toEqual({
    ...shown,
    choices: [{ index: 0, delta: expected, finish_reason: null }],
  })
})

it('an error inside a stream keeps every letter of its words', () => {
  const error = { message: 'Ungültige Größe 🙂', type: 'invalid_request_error' }
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify({ error })}\n\n`)
  expect(openaiChatStream({ hideUsage: false }).push(bytes)).toMatchObject([{ failure: { message: error.message } }])
})
