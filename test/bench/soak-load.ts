import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { failingBody, pacedBody, requestBody } from './wire.ts'

export interface SoakOrder {
  readonly url: string
  /** Taken in turn. */
  readonly keys: readonly string[]
  readonly callers: number
  readonly seconds: number
}

/** What a second of the load was like. */
export interface SoakSecond {
  readonly calls: number
  /** Answers that were not as they had to be. */
  readonly wrong: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const KINDS = {
  whole: { body: requestBody(false), status: 200 },
  stream: { body: requestBody(true), status: 200 },
  failing: { body: failingBody, status: 502 },
  leaving: { body: pacedBody(100), status: 200 },
} as const
type Kind = keyof typeof KINDS

/** Of twenty calls. */
const TURN: readonly Kind[] = [...Array<Kind>(9).fill('whole'), 'failing', ...Array<Kind>(9).fill('stream'), 'leaving']
const PAUSE_MS = 5

/** Calls of all kinds, from a process of their own; prints a line for each second. */
async function run({ url, keys, callers, seconds }: SoakOrder): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const until = performance.now() + 1000 * seconds
  let times: number[] = []
  let [calls, wrong, begun] = [0, 0, 0]

  const timer = setInterval(() => {
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
    const second: SoakSecond = { calls, wrong, p50Ms: at(0.5), p99Ms: at(0.99) }
    process.stdout.write(`${JSON.stringify(second)}\n`)
    times = []
    ;[calls, wrong] = [0, 0]
  }, 1000)

  async function caller(): Promise<void> {
    while (performance.now() < until) {
      const turn = begun++
      const kind = TURN[turn % TURN.length] as Kind
      const startedAt = performance.now()
      const status = await call(`${url}/chat/completions`, keys[turn % keys.length] as string, kind, agent)
      calls += 1
      if (status !== KINDS[kind].status) wrong += 1
      if (kind === 'whole') times.push(performance.now() - startedAt)
      await wait(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  clearInterval(timer)
  agent.destroy()
}

function call(url: string, key: string, kind: Kind, agent: Agent): Promise<number> {
  const { body } = KINDS[kind]
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const leaves = kind === 'leaving'
  return new Promise((resolve) => {
    const outgoing = request(url, { method: 'POST', headers, ...(leaves ? {} : { agent }) }, (response) => {
      const status = response.statusCode ?? 0
      response.on('error', () => resolve(leaves ? status : 0))
      response.on('end', () => resolve(status))
      response.resume()
      if (leaves) setTimeout(() => outgoing.destroy(), 250)
    })
    outgoing.on('error', () => resolve(0))
    outgoing.end(body)
  })
}

const [, program, order] = process.argv
if (program === import.meta.filename && order !== undefined) await run(JSON.parse(order))
