import { setTimeout as wait } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { place, SOURCES } from '../../runtimes/node/gateway-process.ts'
import { MASTER_KEY } from '../../support/gateway.ts'

// How slow chat calls are beside a flood of logins, which all come from other addresses and are for other accounts, so that
// no limit but the line of those who wait to be hashed holds them:
//   node test/system/scale/login-flood.ts [logins a second, 200] [rounds, 3]
const CHATS_A_SECOND = 40
const ROUND_MS = 15_000

/** Asked for from a thread of its own: what reads the gateway's log lines here would delay what is measured. */
type Task =
  | { readonly kind: 'chats'; readonly url: string; readonly key: string }
  | { readonly kind: 'flood'; readonly url: string; readonly path: string; readonly perSecond: number }

/** Begins one thing after the other at a steady pace, however long each takes. */
async function steadily(perSecond: number, until: () => boolean, begin: (at: number) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>()
  const began = performance.now()
  for (let at = 0; !until(); at++) {
    const one: Promise<void> = begin(at).finally(() => running.delete(one))
    running.add(one)
    await wait(Math.max(0, began + ((at + 1) * 1000) / perSecond - performance.now()))
  }
  await Promise.all(running)
}

/** What takes the same body, and hashes nothing: how much of it is this machine's, which makes the requests, too. */
const CONTROL = '/auth/nothing'
const LOGIN = '/auth/internal/login'

/** How many requests got which status. Until it is told to stop. */
async function flood(url: string, path: string, perSecond: number): Promise<Record<string, number>> {
  let stopped = false
  parentPort?.once('message', () => {
    stopped = true
  })
  const statuses: Record<string, number> = {}
  await steadily(
    perSecond,
    () => stopped,
    async (at) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`,
        },
        body: JSON.stringify({
          email: `somebody-${process.hrtime.bigint()}@example.com`,
          password: 'a wrong password',
        }),
      })
      await response.arrayBuffer()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    },
  )
  return statuses
}

/** How long each chat call took. */
async function chats(url: string, key: string): Promise<number[]> {
  const times: number[] = []
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const end = performance.now() + ROUND_MS
  await steadily(
    CHATS_A_SECOND,
    () => performance.now() > end,
    async () => {
      const began = performance.now()
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`a chat call was answered ${response.status}`)
      times.push(performance.now() - began)
    },
  )
  return times
}

function inThread<Result>(task: Task): { readonly result: Promise<Result>; stop(): void } {
  const thread = new Worker(new URL(import.meta.url), { workerData: task })
  const result = new Promise<Result>((resolve, reject) => thread.once('message', resolve).once('error', reject))
  return { result, stop: () => thread.postMessage('stop') }
}

async function measure(): Promise<void> {
  const [perSecond = 200, rounds = 3] = process.argv.slice(2).map(Number)
  const home = await place(SOURCES)
  try {
    const gateway = await home.start({
      yaml: `
general_settings: { trusted_proxies: ['127.0.0.0/8', '::1'], log_level: warn }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]
`,
    })
    await gateway.greeted()
    const url = await gateway.base()
    const alone = () => inThread<number[]>({ kind: 'chats', url, key: MASTER_KEY }).result
    async function beside(path: string): Promise<{ times: number[]; statuses: Record<string, number> }> {
      const flooding = inThread<Record<string, number>>({ kind: 'flood', url, path, perSecond })
      await wait(1000)
      const times = await alone()
      flooding.stop()
      return { times, statuses: await flooding.result }
    }

    await alone()
    const all = { alone: [] as number[], control: [] as number[], logins: [] as number[] }
    for (let round = 1; round <= rounds; round++) {
      const times = await alone()
      const control = await beside(CONTROL)
      const logins = await beside(LOGIN)
      all.alone.push(...times)
      all.control.push(...control.times)
      all.logins.push(...logins.times)
      say(`round ${round}`, times, control.times, logins.times, JSON.stringify(logins.statuses))
    }
    say('all', all.alone, all.control, all.logins)
  } finally {
    await home.clear()
  }
}

/** The 99th percentile of each, and of the last two how many times the first's. */
function say(name: string, alone: readonly number[], control: readonly number[], logins: readonly number[], more = '') {
  const [first, ...others] = [alone, control, logins].map((times) => quantile(times, 0.99))
  const [beside, hashed] = others.map((one) => `${one.toFixed(1)} ms (× ${(one / (first ?? 0)).toFixed(2)})`)
  process.stdout.write(
    `${name}: p99 ${first?.toFixed(1)} ms alone, ${beside} beside other requests, ${hashed} beside logins ${more}\n`,
  )
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

async function perform(task: Task): Promise<void> {
  const result =
    task.kind === 'chats' ? await chats(task.url, task.key) : await flood(task.url, task.path, task.perSecond)
  parentPort?.postMessage(result)
}

await (isMainThread ? measure() : perform(workerData as Task))
