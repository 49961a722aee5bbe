import { expect, it } from 'vitest'
import { responsesSession } from '../../../../src/api/v1/responses/socket-session.ts'

const COMPLETED = {
  type: 'response.completed',
  response: { id: 'resp_1', object: 'response', status: 'completed', store: false, output: [] },
}

it('a connection that closes as its answer ends holds no memory for what nobody can continue', async () => {
  let held = 0
  let told = Promise.withResolvers<void>()
  let close = () => {}
  const session = responsesSession({
    ask: async () => ({
      status: 200,
      body: new ReadableStream({
        start(answer) {
          answer.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(COMPLETED)}\n\n`))
          close = () => answer.close()
        },
      }),
    }),
    send: async () => told.resolve(),
    hold(bytes) {
      held += bytes
      let counted = bytes
      return {
        add() {},
        release() {
          held -= counted
          counted = 0
        },
      } as unknown as ReturnType<Parameters<typeof responsesSession>[0]['hold']>
    },
  })
  const ask = async (ends: boolean) => {
    told = Promise.withResolvers<void>()
    const turn = session.take(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi', store: false }))
    await told.promise
    if (ends) session.end()
    close()
    await turn
  }
  await ask(false)
  expect(held).toBeGreaterThan(0)
  await ask(true)
  expect(held).toBe(0)
})

type Heard = { type: string; stream_id?: string; error?: { code: string }; response?: { id: string } }

/** A session whose provider repeats nothing of a request; `hold` delays the calls whose input it names. */
function session(hold: Readonly<Record<string, Promise<void>>> = {}) {
  const asked: { input: unknown; stream_id?: string; previous_response_id?: string }[] = []
  const heard: Heard[] = []
  const { take } = responsesSession({
    async ask(body) {
      const request = JSON.parse(new TextDecoder().decode(body))
      asked.push(request)
      const response = { id: `resp_${asked.length}`, status: 'completed', output: [] }
      await hold[request.input]
      const event = `data: ${JSON.stringify({ type: 'response.completed', response })}\n\n`
      return { status: 200, body: new Response(event).body as ReadableStream<Uint8Array> }
    },
    send: async (text) => void heard.push(JSON.parse(text)),
    hold: () => ({ add() {}, release() {} }) as never,
  })
  const create = (request: object) => take(JSON.stringify({ type: 'response.create', model: 'm', ...request }))
  return { asked, heard, create }
}

it('turns of one stream_id wait for each other and not for those of others, and their events repeat it', async () => {
  const slow = Promise.withResolvers<void>()
  const { asked, heard, create } = session({ slow: slow.promise })
  const turns = [create({ stream_id: 'a', input: 'slow' }), create({ stream_id: 'a', input: 'next' })]
  await create({ stream_id: 'b', input: 'quick' })
  await create({ input: 'plain' })
  await create({ stream_id: 7, input: 'odd' })
  slow.resolve()
  await Promise.all(turns)
  expect(asked.map(({ input }) => input)).toEqual(['slow', 'quick', 'plain', 'next'])
  expect(asked.some(({ stream_id }) => stream_id !== undefined)).toBe(false)
  expect(heard.map(({ type, stream_id }) => [type, stream_id])).toEqual([
    ['response.completed', 'b'],
    ['response.completed', undefined],
    ['error', undefined],
    ['response.completed', 'a'],
    ['response.completed', 'a'],
  ])
})

it('each stream_id goes on with its last answer, which another may continue too', async () => {
  const { asked, heard, create } = session()
  for (const stream_id of ['a', 'b']) await create({ stream_id, input: stream_id, store: false })
  const [a, b] = heard.map(({ response }) => response?.id)
  for (const [stream_id, previous_response_id] of [
    ['c', a],
    ['b', b],
  ]) {
    await create({ stream_id, input: 'on', store: false, previous_response_id })
  }
  const texts = asked.slice(2).map(({ input }) => JSON.stringify(input))
  expect(texts[0]).toMatch(/"a".*"on"/)
  expect(texts[1]).toMatch(/"b".*"on"/)
  expect(asked.some(({ previous_response_id }) => previous_response_id !== undefined)).toBe(false)
})
