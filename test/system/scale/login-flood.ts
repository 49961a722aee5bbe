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

/** A thread of its own: its answers must not delay what is measured. */
async function flood({ url, perSecond }: { url: string; perSecond: number }): Promise<void> {
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
      const login = fetch(`${url}/auth/internal/login`, {
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

    await chats()
    const all = { alone: [] as number[], beside: [] as number[] }
    for (let round = 1; round <= rounds; round++) {
      const alone = await chats()
      const thread = new Worker(new URL(import.meta.url), { workerData: { url, perSecond } })
      const said = new Promise<Record<string, number>>((resolve) => thread.once('message', resolve))
      await wait(1000)
      const beside = await chats()
      thread.postMessage('stop')
      const statuses = await said
      all.alone.push(...alone)
      all.beside.push(...beside)
      process.stdout.write(`round ${round}  ${line(alone, beside)}  logins ${JSON.stringify(statuses)}\n`)
    }
    process.stdout.write(`all      ${line(all.alone, all.beside)}\n`)
  } finally {
    await home.clear()
  }
}

function line(alone: readonly number[], beside: readonly number[]): string {
  const [a, b] = [alone, beside].map((times) => [quantile(times, 0.5), quantile(times, 0.99)] as const)
  if (!a || !b) return ''
  return `p50 ${a[0].toFixed(1)} → ${b[0].toFixed(1)} ms, p99 ${a[1].toFixed(1)} → ${b[1].toFixed(1)} ms (× ${(b[1] / a[1]).toFixed(2)})`
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

await (isMainThread ? measure() : flood(workerData as { url: string; perSecond: number }))
