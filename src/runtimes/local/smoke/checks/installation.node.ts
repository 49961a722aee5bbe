import { type Check, failed, passed, type Verdict } from '../check.node.ts'
import type { Instance, Scene } from '../scene.node.ts'

const LOOKS = 3

export const installation: readonly Check[] = [
  {
    name: 'ledger',
    promise: 'a call is in the ledger soon',
    needsAdmin: true,
    async run(scene) {
      const call = await scene.wholeCall()
      const requestId = String(call.headers['x-request-id'] ?? '')
      if (requestId === '') return failed('the call has no x-request-id')
      const row = await scene.ledgerRow(requestId)
      const seconds = ((Date.now() - call.sentAt - call.endMs) / 1000).toFixed(1)
      if (!row) return failed(`its row is not there after ${seconds} s: look at the queue and at the database`)
      return row.output_tokens == null && call.status === 200
        ? failed('its row has no tokens')
        : passed(`${row.input_tokens} and ${row.output_tokens} tokens, there within ${seconds} s`)
    },
  },
  {
    name: 'store',
    promise: 'the shared store is shared and near',
    needsAdmin: true,
    run: (scene) =>
      fastest(scene, 'store', scene.bounds.storeRoundTrip, ({ store }) => {
        if (store?.mode === 'degraded') return failed('it is away; limits are counted by each process for itself')
        const alone = store?.kind === 'in-process' ? '; for this process alone' : ''
        return passed(`${store?.kind}${alone}`)
      }),
  },
  {
    name: 'database',
    promise: 'the database is near',
    needsAdmin: true,
    run: (scene) =>
      fastest(scene, 'database', scene.bounds.databaseRoundTrip, ({ database }) => passed(`${database?.kind}`)),
  },
  {
    name: 'queue',
    promise: 'no record waits for long, and none was refused',
    needsAdmin: true,
    async run({ instance, bounds }) {
      const { queue, records_waiting: waiting = {} } = await instance()
      if (!queue) return failed('the database does not say what waits')
      const records = Object.values(waiting).reduce((sum, count) => sum + count, 0)
      const ageMs = queue.oldest_sent_at === null ? 0 : Date.now() - Date.parse(queue.oldest_sent_at)
      const words = `${queue.waiting} jobs and ${records} records wait, ${queue.dead} jobs are dead`
      if (ageMs > bounds.queueAge) return failed(`${words}; the oldest has waited for ${Math.round(ageMs / 1000)} s`)
      return queue.dead > 0 ? failed(words) : passed(words)
    },
  },
  {
    name: 'cron',
    promise: 'scheduled jobs run',
    needsAdmin: true,
    async run({ instance, until, bounds }) {
      const ranAt = await until(bounds.clockRuns, 2000, async () => (await instance()).clock_ran_at ?? undefined)
      return ranAt === undefined
        ? failed('it did not run in the last two minutes; a new cron trigger may take 15')
        : passed(`last in the minute of ${ranAt}`)
    },
  },
]

/** The shortest round trip of a few, as the gateway measures it: the first may open a connection. */
async function fastest(
  { instance, farEnd }: Scene,
  name: 'store' | 'database',
  boundMs: number,
  judge: (seen: Instance) => Verdict,
): Promise<Verdict> {
  const looks: Instance[] = []
  for (let look = 0; look < LOOKS; look++) looks.push(await instance())
  const times = looks.flatMap((look) => look[name]?.latency_ms ?? [])
  if (times.length === 0) return failed('it does not answer')
  const roundTripMs = Math.min(...times)
  const verdict = judge(looks.at(-1) as Instance)
  // Cloudflare says at which of its places an answer was made.
  const place = /^cf-ray\n.*-([A-Z]{3})$/im.exec(farEnd.heard.at(-1)?.text ?? '')?.[1]
  const detail = `${verdict.detail}, ${roundTripMs} ms${place === undefined ? '' : ` from ${place}`}`
  if (verdict.result !== 'passed') return { ...verdict, detail }
  return roundTripMs <= boundMs ? passed(detail) : failed(`${detail}, ${boundMs} ms at most: is it in another region?`)
}
