import type { WorkerModules } from './worker-modules.ts'

/** Counts the calls and checks of models that wait for the head of their answer. */
const COUNTING = `
const { fetch } = globalThis
let waiting = 0
let most = 0
globalThis.fetch = async (...given) => {
  const url = given[0] instanceof Request ? given[0].url : String(given[0])
  if (!/\\/v1\\/(chat\\/completions|models)$/.test(url)) return fetch(...given)
  most = Math.max(most, ++waiting)
  try {
    return await fetch(...given)
  } finally {
    waiting -= 1
  }
}
export const mostWaiting = () => most
`

/** Passes requests on, and hands over wake-ups and ticks of the clock, as the runtime does. */
const DRIVER = `
import { mostWaiting } from './counting.js'
import worker from './worker.js'
export default {
  async fetch(request, bindings, execution) {
    const { pathname } = new URL(request.url)
    if (pathname === '/scheduled') {
      await worker.scheduled({ cron: '* * * * *', scheduledTime: Date.now() }, bindings, execution)
      return Response.json({})
    }
    if (pathname === '/most') return Response.json(mostWaiting())
    if (pathname !== '/wake') return worker.fetch(request, bindings, execution)
    let acked = 0
    const message = { id: crypto.randomUUID(), body: { topic: 'batch', body: {} }, attempts: 1, ack: () => acked++, retry() {} }
    await worker.queue({ queue: 'gateway-wake-ups', messages: [message] }, bindings, execution)
    return Response.json({ acked })
  },
}
`

/** The worker, with `/wake` and `/scheduled` for what does not come over HTTP, and `/most` for the most calls of models
 *  that it had waiting at once. */
export const withBatchTurns = ({ script, ...rest }: WorkerModules): WorkerModules => ({
  ...rest,
  script: { name: 'driver.js', text: DRIVER },
  beside: [{ name: 'counting.js', text: COUNTING }, script],
})
