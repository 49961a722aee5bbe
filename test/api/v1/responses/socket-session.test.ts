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
