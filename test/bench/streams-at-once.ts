import { once } from 'node:events'
import { Agent, type ClientRequest, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { cpuSeconds, LOAD_CORE, residentMegabytes, start } from './processes.ts'
import type { Running } from './targets/target.ts'
import { pacedBody } from './wire.ts'

export interface StreamsResult {
  readonly streams: number
  /** Streams that were not begun. */
  readonly failures: number
  /** Of one core, by the server's processes. */
  readonly cpuShare: number
  /** What the server's memory grew by, for each stream. */
  readonly kibEach: number
  /** Chunks that came after their successor was sent. */
  readonly lateChunks: number
  readonly chunks: number
  readonly latenessP99Ms: number
  /** Streams that the far end still writes a second after all clients have left. */
  readonly leftOpen: number
  /** How long it took until it wrote none of them; undefined where it still did after `PATIENCE_MS`. */
  readonly closedAfterMs: number | undefined
  /** Of as many streams, begun then: those that were refused. */
  readonly refusedAfterwards: number
}

/** So many streams at once, each of a word every `paceMs`, from a process of its own on the load's core; then all
 *  clients leave, and come back a second later. */
export async function streamsAtOnce(
  target: Running,
  upstreamUrl: string,
  { streams, seconds, paceMs }: { readonly streams: number; readonly seconds: number; readonly paceMs: number },
): Promise<StreamsResult> {
  const before = residentMegabytes(target.pids)
  const order: Order = { url: target.url, headers: target.headers, upstreamUrl, streams, seconds, paceMs }
  const child = start(process.execPath, [import.meta.filename, JSON.stringify(order)], { core: LOAD_CORE })
  const ended = once(child, 'close')
  let printed = ''
  let [used, from] = [0, 0]
  let [cpuShare, kibEach] = [0, 0]
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (text.startsWith('open')) [used, from] = [cpuSeconds(target.pids), performance.now()]
    if (text.startsWith('leaving')) {
      cpuShare = (cpuSeconds(target.pids) - used) / ((performance.now() - from) / 1000)
      kibEach = ((residentMegabytes(target.pids) - before) * 1024) / streams
    }
  })
  await ended
  const found = printed.split('\n').findLast((line) => line.startsWith('{'))
  if (found === undefined) throw new Error(`the streams' process ended early: ${printed.slice(-300)}`)
  return { streams, cpuShare, kibEach, ...JSON.parse(found) }
}

interface Order {
  readonly url: string
  readonly headers: Record<string, string>
  readonly upstreamUrl: string
  readonly streams: number
  readonly seconds: number
  readonly paceMs: number
}

/** How many connections are begun before the next ones wait for the first word of these. */
const AT_A_TIME = 50
const PATIENCE_MS = 3000
/** For its first word, a stream. */
const LONGEST_WAIT_MS = 15_000

async function run({ url, headers, upstreamUrl, streams, seconds, paceMs }: Order) {
  const lateness: number[] = []
  const body = pacedBody(paceMs)
  const say = (word: string) => process.stdout.write(`${word}\n`)
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })

  async function openAll(note: (lateMs: number) => void) {
    const asked: ClientRequest[] = []
    let refused = 0
    for (let at = 0; at < streams; at += AT_A_TIME) {
      const begun = Array.from({ length: Math.min(AT_A_TIME, streams - at) }, async () => {
        const { outgoing, began } = open(`${url}/chat/completions`, { headers, body, agent, note })
        asked.push(outgoing)
        if (!(await began)) refused += 1
      })
      await Promise.all(begun)
    }
    const leave = () => {
      for (const one of asked) one.destroy()
    }
    return { refused, leave }
  }

  let noting = false
  const first = await openAll((lateMs) => noting && lateness.push(lateMs))
  say('open')
  noting = true
  await wait(1000 * seconds)
  noting = false
  say('leaving')
  await wait(50)
  first.leave()
  const farEnd = async (path: string) =>
    ((await (await fetch(new URL(path, upstreamUrl))).json()) as { open: number }).open
  const leftAt = performance.now()
  let closedAfterMs: number | undefined
  let leftOpen = 0
  for (let elapsed = 0; elapsed < PATIENCE_MS && closedAfterMs === undefined; ) {
    await wait(20)
    elapsed = performance.now() - leftAt
    const open = await farEnd('/_open')
    if (elapsed <= 1000) leftOpen = open
    if (open === 0) closedAfterMs = elapsed
  }
  // What is still written now would disturb whoever is measured next.
  await farEnd('/_drop')
  await wait(1000 - (performance.now() - leftAt))
  const second = await openAll(() => {})
  second.leave()
  await wait(200)
  await farEnd('/_drop')
  const sorted = lateness.toSorted((a, b) => a - b)
  return {
    failures: first.refused,
    lateChunks: sorted.filter((ms) => ms > paceMs).length,
    chunks: sorted.length,
    latenessP99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    leftOpen,
    closedAfterMs,
    refusedAfterwards: second.refused,
  }
}

function open(
  url: string,
  options: {
    readonly headers: Record<string, string>
    readonly body: string
    readonly agent: Agent
    readonly note: (lateMs: number) => void
  },
) {
  const { headers, body, agent, note } = options
  const outgoing = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
  })
  const began = new Promise<boolean>((resolve) => {
    setTimeout(resolve, LONGEST_WAIT_MS, false).unref()
    outgoing.on('error', () => resolve(false))
    outgoing.on('close', () => resolve(false))
    outgoing.on('response', (response) => {
      if (response.statusCode !== 200) resolve(false)
      let pending = ''
      response.on('error', () => resolve(false))
      response.setEncoding('utf8').on('data', (text: string) => {
        const lines = (pending + text).split('\n')
        pending = lines.pop() ?? ''
        const now = Date.now()
        for (const line of lines) {
          const sent = /sent=(\d+)/.exec(line)?.[1]
          if (sent !== undefined) note(now - Number(sent))
        }
        resolve(response.statusCode === 200)
      })
    })
  })
  outgoing.end(body)
  return { outgoing, began }
}

const [, program, order] = process.argv
if (program === import.meta.filename && order !== undefined) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(order)))}\n`)
  process.exit(0)
}
