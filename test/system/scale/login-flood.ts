import { setTimeout as wait } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { place } from '../../runtimes/node/gateway-process.ts'
import { chatInit } from '../../support/gateway.ts'

// How slow chat calls are beside a flood of logins, which all come from other addresses and are for other accounts, so that
// no limit but the line of those who wait to be hashed holds them:
//   node test/system/scale/login-flood.ts [logins a second, 200] [rounds, 4]
const CHATS_A_SECOND = 40
const ROUND_MS = 8000

/** Begins one thing after the other at a steady pace, however long each takes. */
async function steadily(perSecond: number, until: () => boolean, begin: (at: number) => void): Promise<void> {
  const began = performance.now()
  for (let at = 0; !until(); at++) {
    begin(at)
    await wait(Math.max(0, began + ((at + 1) * 1000) / perSecond - performance.now()))
  }
}

interface Flood {
  readonly url: string
  readonly perSecond: number
  readonly path: string
}

/** What takes the same body, and hashes nothing: how much of it is this machine's, which makes the requests, too. */
const CONTROL = '/auth/nothing'
const LOGIN = '/auth/internal/login'

/** A thread of its own: its answers must not delay what is measured. */
async function flood({ url, perSecond, path }: Flood): Promise<void> {
  let stopped = false
  parentPort?.once('message', () => {
    stopped = true
  })
  const statuses: Record<string, number> = {}
  const running = new Set<Promise<void>>()
  await steadily(
    perSecond,
    () => stopped,
    () => {
      const number = Math.floor(Math.random() * 2 ** 24)
      const login = fetch(url + path, {
        method: 'POST',
        body: JSON.stringify({ email: `guess-${number}@example.com`, password: 'a password of some length' }),
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
        },
      }).then(async (response) => {
        await response.arrayBuffer()
        statuses[response.status] = (statuses[response.status] ?? 0) + 1
      })
      running.add(login)
      void login.catch(() => {}).finally(() => running.delete(login))
    },
  )
  await Promise.allSettled([...running])
  parentPort?.postMessage(statuses)
}

async function measure(): Promise<void> {
  const [perSecond = 200, rounds = 4] = process.argv.slice(2).map(Number)
  const home = await place()
  try {
    const gateway = await home.start({
      yaml: `
general_settings: { trusted_proxies: ['127.0.0.0/8', '::1'] }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]
`,
    })
    await gateway.greeted()
    const url = await gateway.base()
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }

    async function chats(): Promise<number[]> {
      const times: number[] = []
      const running: Promise<void>[] = []
      const end = performance.now() + ROUND_MS
      await steadily(
        CHATS_A_SECOND,
        () => performance.now() > end,
        () => {
          const began = performance.now()
          running.push(
            gateway.fetch('/v1/chat/completions', chatInit(body)).then(async (response) => {
              await response.arrayBuffer()
              if (response.status !== 200) throw new Error(`a chat call was answered ${response.status}`)
              times.push(performance.now() - began)
            }),
          )
        },
      )
      await Promise.all(running)
      return times
    }

    async function chatsBeside(path: string): Promise<{ times: number[]; statuses: Record<string, number> }> {
      const thread = new Worker(new URL(import.meta.url), { workerData: { url, perSecond, path } satisfies Flood })
      const said = new Promise<Record<string, number>>((resolve) => thread.once('message', resolve))
      await wait(1000)
      const times = await chats()
      thread.postMessage('stop')
      return { times, statuses: await said }
    }

    await chats()
    const all = { alone: [] as number[], control: [] as number[], logins: [] as number[] }
    for (let round = 1; round <= rounds; round++) {
      const alone = await chats()
      const control = await chatsBeside(CONTROL)
      const logins = await chatsBeside(LOGIN)
      all.alone.push(...alone)
      all.control.push(...control.times)
      all.logins.push(...logins.times)
      say(`round ${round}`, alone, control.times, logins.times, JSON.stringify(logins.statuses))
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

await (isMainThread ? measure() : flood(workerData as Flood))
