import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '@redis/client'
import { governedKey, startGateway, startRedis } from './gateway-server.ts'
import { inspector } from './inspector.ts'
import { LOAD_CORE, residentMegabytes, start } from './processes.ts'
import { bounded, type Session, say, session } from './session.ts'
import type { SoakOrder, SoakSecond } from './soak-load.ts'
import { type Panel, picture } from './soak-picture.ts'

const USAGE = `npm run bench:soak -- [--minutes 30] [--callers 16] [--svg out.svg]
Mixed calls (whole, streams, 5 % that their client leaves, 5 % that the far end fails; several keys) against a gateway
with virtual keys over Redis: draws memory, what is taken and latency, and says whether they stay flat and end at nothing.`
const KEYS = 8
/** Of the run: how long memory may still find its level. */
const WARM_UP = 0.25
/** What the heap may grow by in 100,000 calls and still be called flat. */
const FLAT_MB = 1

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string' },
    callers: { type: 'string' },
    svg: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const minutes = bounded(options.minutes, 30, 24 * 60)
const callers = bounded(options.callers, 16, 500)
const svg = options.svg ?? join(tmpdir(), `gateway-soak-${Date.now()}.svg`)

if (options.help) say(USAGE)
else await session(minutes * 60 + 120, soak)

interface Sample {
  readonly at: number
  readonly calls: number
  readonly residentMb: number
  readonly slots: number
  readonly upstream: number
  /** What is left after a garbage collection; not looked at every time. */
  readonly heapMb: number | undefined
}

async function soak({ folder, upstreamUrl }: Session): Promise<boolean> {
  const place = { folder: join(folder, 'gateway'), upstreamUrl, peerNode: process.execPath, inspected: true }
  await mkdir(place.folder)
  const store = await startRedis(place)
  const server = await startGateway(place, { REDIS_URL: store.url }, '/dev/null')
  const keys: string[] = []
  for (let at = 0; at < KEYS; at++) keys.push(await governedKey(server, `soak-${at}`))
  const redis = await createClient({ url: store.url }).connect()
  const v8 = await inspector(server.inspectorPort as number)

  async function slots(): Promise<number> {
    const counts = await Promise.all(
      (await redis.keys('gateway:slots:*')).map((key) => redis.zCount(key, Date.now(), '+inf')),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }
  const upstream = async () => ((await (await fetch(new URL('/_open', upstreamUrl))).json()) as { open: number }).open
  async function heapMb(): Promise<number> {
    await v8.ask('HeapProfiler.collectGarbage')
    return (await v8.ask<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize / 2 ** 20
  }

  const order: SoakOrder = { url: `${server.root}/v1`, keys, callers, seconds: minutes * 60 }
  const program = new URL('./soak-load.ts', import.meta.url).pathname
  const load = start(process.execPath, [program, JSON.stringify(order)], { core: LOAD_CORE })
  const ended = once(load, 'close')
  const [samples, seconds]: [Sample[], SoakSecond[]] = [[], []]
  const collectEvery = Math.max(5, minutes)
  let calls = 0
  for await (const line of createInterface({ input: load.stdout as Readable })) {
    const second = JSON.parse(line) as SoakSecond
    seconds.push(second)
    calls += second.calls
    const at = seconds.length
    samples.push({
      at,
      calls,
      residentMb: residentMegabytes([server.pid]),
      slots: await slots(),
      upstream: await upstream(),
      heapMb: at % collectEvery === 0 ? await heapMb() : undefined,
    })
    if (at % 30 === 0) say(`${at} s: ${calls} calls, ${Math.round(samples.at(-1)?.residentMb ?? 0)} MB`)
  }
  await ended
  await wait(2000)
  const left = { slots: await slots(), upstream: await upstream() }
  v8.close()
  redis.destroy()
  await writeFile(svg, picture(`${calls} calls in ${minutes} min, ${callers} callers`, panels(samples, seconds)))
  return verdict(samples, seconds, left)
}

function verdict(
  samples: readonly Sample[],
  seconds: readonly SoakSecond[],
  left: { slots: number; upstream: number },
) {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP))
  const heap = slope(settled.flatMap(({ calls, heapMb }) => (heapMb === undefined ? [] : [[calls, heapMb]])))
  const resident = slope(settled.map(({ calls, residentMb }) => [calls, residentMb]))
  const wrong = seconds.reduce((sum, second) => sum + second.wrong, 0)
  const flat = heap < FLAT_MB
  const per = (mb: number) => `${mb >= 0 ? '+' : ''}${mb.toFixed(2)} MB per 100,000 calls`
  say(`
heap after collection   ${per(heap)} after the warm-up: ${flat ? 'flat' : 'it grows'}
resident                ${per(resident)}
slots taken at the end  ${left.slots}
upstream streams open   ${left.upstream}
wrong answers           ${wrong}
picture                 ${svg}`)
  return flat && left.slots === 0 && left.upstream === 0 && wrong === 0
}

/** By least squares, for each 100,000. */
function slope(points: readonly (readonly number[])[]): number {
  const mean = (at: number) => points.reduce((sum, point) => sum + (point[at] ?? 0), 0) / Math.max(1, points.length)
  const [meanX, meanY] = [mean(0), mean(1)]
  let [above, below] = [0, 0]
  for (const [x = 0, y = 0] of points) {
    above += (x - meanX) * (y - meanY)
    below += (x - meanX) ** 2
  }
  return below === 0 ? 0 : (above / below) * 100_000
}

function panels(samples: readonly Sample[], seconds: readonly SoakSecond[]): Panel[] {
  const of = (read: (sample: Sample) => number | undefined) =>
    samples.flatMap((sample) => {
      const value = read(sample)
      return value === undefined ? [] : [[sample.at, value] as const]
    })
  const each = (read: (second: SoakSecond) => number) => seconds.map((second, at) => [at + 1, read(second)] as const)
  return [
    { title: 'Resident memory', unit: 'MB', lines: { resident: of((one) => one.residentMb) } },
    { title: 'Heap after collection', unit: 'MB', lines: { heap: of((one) => one.heapMb) } },
    {
      title: 'Taken',
      unit: 'at that moment',
      lines: { slots: of((one) => one.slots), 'upstream streams': of((one) => one.upstream) },
    },
    {
      title: 'Latency of whole answers',
      unit: 'ms',
      lines: { p50: each((one) => one.p50Ms), p99: each((one) => one.p99Ms) },
    },
    { title: 'Calls', unit: 'a second', lines: { calls: each((one) => one.calls), wrong: each((one) => one.wrong) } },
  ]
}
