import { createHook } from 'node:async_hooks'
import { newTimedId } from '../../../src/lib/ids.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { sharedTimers } from '../../../src/lib/timers/shared-timers.node.ts'
import { degrading } from '../../../src/stores/kv/degrading.ts'
import { inProcessStore } from '../../../src/stores/kv/in-process.ts'
import { redisTcpStore } from '../../../src/stores/kv/redis-tcp.node.ts'
import type { Admission, Settlement, SharedStore } from '../../../src/stores/kv/shared-store.ts'

/** What the admission and the settlement of one call cost together: counted, so that a busy machine counts the same. */
export interface StoreCosts {
  readonly bytes: number
  readonly promises: number
  readonly timers: number
}

const AT_ONCE = 20
const CALLS = 1000
const [, , redisUrl] = process.argv

/** As Node has it: inside the process, or in Redis behind deadlines and a breaker. */
const store: SharedStore = redisUrl
  ? degrading(redisTcpStore({ url: redisUrl }), {
      local: () => inProcessStore({ now: Date.now }),
      mode: 'fail_open',
      now: Date.now,
      log: jsonLog('silent', () => {}),
      timers: sharedTimers(),
    })
  : inProcessStore({ now: Date.now })

const LEVELS = ['organization', 'team', 'user', 'key']
const versions = LEVELS.map((level) => ({ record: `${level}:1`, version: 1, remembered: true }))
const quotas = LEVELS.flatMap((level) =>
  (['requests', 'tokens'] as const).flatMap((unit) =>
    (['minute', 'day'] as const).map((window) => ({
      scope: `${level}/${unit}/${window}`,
      subject: `${level}:1`,
      unit,
      window,
      limit: 1e12,
    })),
  ),
)
const slots = [{ scope: 'key_parallel_requests', subject: 'key:1', limit: 1e6 }]
const accounts = LEVELS.map((level) => ({ scope: `${level}_budget`, subject: `${level}:1@30d` }))
const period = '2026-02-10T00:00:00.000Z'
const limits = {}

const admission = (seedNano?: number): Admission => ({
  callId: newTimedId('call'),
  attemptId: newTimedId('attempt'),
  versions,
  quotas,
  tokens: 20,
  slots,
  budgets: accounts.map((account) => ({ ...account, limitNano: 1e15, holdNano: 31_000, period, seedNano })),
  candidates: [{ deployment: 'one', limits }],
  leaseSeconds: 120,
})

const settlement = ({ callId, attemptId, budgets }: Admission): Settlement => ({
  callId,
  slots: ['key:1'],
  budgets: budgets.map(({ subject, holdNano }) => ({ subject, period, holdNano, spentNano: 12_000 })),
  outcomes: [
    {
      attemptId,
      deployment: 'one',
      result: 'succeeded',
      used: { tokens: 40 },
      latencyMs: 12.5,
      firstTokenMs: 11,
      cooldown: { allowedFails: 3, seconds: 30 },
    },
  ],
  counters: {},
  entries: [],
})

interface Call {
  readonly asked: Admission
  readonly ended: Settlement
}

function prepared(): Call[] {
  return Array.from({ length: CALLS }, () => {
    const asked = admission()
    return { asked, ended: settlement(asked) }
  })
}

/** Some calls at once, so that the store is never idle. */
async function run(calls: readonly Call[]): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < calls.length) {
      const { asked, ended } = calls[next++] as Call
      const answer = await store.admit(asked)
      if (answer.kind !== 'admitted') throw new Error(JSON.stringify(answer))
      await store.settle(ended)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
}

await store.publish({ records: versions, removed: [] })
await store.admit(admission(0))
for (let turn = 0; turn < 10; turn++) await run(prepared())

const [weighed, counted] = [prepared(), prepared()]
globalThis.gc?.()
const before = process.memoryUsage().heapUsed
await run(weighed)
const bytes = (process.memoryUsage().heapUsed - before) / CALLS

let [promises, timers] = [0, 0]
const hook = createHook({
  init(_id, type) {
    if (type === 'PROMISE') promises += 1
    else if (type === 'Timeout') timers += 1
  },
}).enable()
await run(counted)
hook.disable()
const costs: StoreCosts = { bytes, promises: promises / CALLS, timers: timers / CALLS }
process.stdout.write(JSON.stringify(costs), () => process.exit(0))
