import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bearer, governedKey, startGateway, startRedis } from './gateway-server.ts'
import { type Cell, measureCell } from './growth-cell.ts'
import { cpuSeconds } from './processes.ts'
import { type Session, say, session } from './session.ts'
import { streamsAtOnce } from './streams-at-once.ts'

const USAGE = `npm run bench:growth -- [--quick] [--million] [--only deployments,groups,keys,calling,isolates,bodies,streams]
How the CPU of a call grows with what there is. All but the streams is measured without sockets, under a virtual key with
every limit at four levels.`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    million: { type: 'boolean', default: false },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const seconds = options.quick ? 1 : 3
const USUAL: Cell = {
  deployments: 1,
  groups: 'one',
  keys: 1,
  calling: 1,
  isolates: 1,
  redisUrl: undefined,
  bodyBytes: 1000,
  seconds,
}

interface Growth {
  readonly name: string
  readonly title: string
  readonly steps: readonly number[]
  /** The columns behind the step. */
  measure(step: number, session: Session): Promise<Readonly<Record<string, string>>>
}

const powers = (from: number, to: number) =>
  Array.from({ length: Math.round(Math.log10(to / from)) + 1 }, (_, at) => from * 10 ** at)
const microseconds = (value: number) => `${Math.round(value).toLocaleString('en')} µs`

async function perCall(cell: Partial<Cell>): Promise<Record<string, string>> {
  const found = await measureCell({ ...USUAL, ...cell })
  return {
    'CPU a call': microseconds(found.cpuPerCall),
    'store asked': found.storeAsksPerCall.toFixed(2),
    'SQL statements': found.statementsPerCall.toFixed(3),
  }
}

const mostKeys = options.million ? 1_000_000 : options.quick ? 10_000 : 100_000
const GROWTHS: readonly Growth[] = [
  {
    name: 'deployments',
    title: 'deployments in the group that is called',
    steps: powers(10, options.quick ? 1000 : 10_000),
    measure: (deployments) => perCall({ deployments }),
  },
  {
    name: 'groups',
    title: 'groups, of one deployment each',
    steps: powers(10, 10_000),
    measure: (deployments) => perCall({ deployments, groups: 'many' }),
  },
  {
    name: 'keys',
    title: 'keys that have called, of which a hundred at most still do',
    steps: powers(1, mostKeys),
    measure: (keys) => perCall({ keys, calling: Math.min(keys, 100) }),
  },
  {
    name: 'calling',
    title: 'keys that call in turn',
    steps: powers(1, Math.min(mostKeys, 100_000)),
    measure: (keys) => perCall({ keys, calling: keys }),
  },
  { name: 'isolates', title: 'isolates on one Redis', steps: [1, 4, 16, 64], measure: isolates },
  {
    name: 'bodies',
    title: 'bytes of the request',
    steps: [1000, 64_000, 1_000_000, 8_000_000],
    measure: (bodyBytes) => perCall({ bodyBytes }),
  },
  {
    name: 'streams',
    title: 'streams at once, of a chunk a second',
    steps: [1, 10, 100, 1000, ...(options.quick ? [] : [5000])],
    measure: streams,
  },
]

const only = options.only?.split(',')
const unknown = only?.find((name) => !GROWTHS.some((growth) => growth.name === name))
if (unknown !== undefined) throw new RangeError(`there is no '${unknown}'\n${USAGE}`)

async function grow(place: Session): Promise<boolean> {
  for (const { name, title, steps, measure } of GROWTHS) {
    if (only && !only.includes(name)) continue
    say(`\n${name}: ${title}`)
    for (const step of steps) {
      const found = await measure(step, place)
      const columns = Object.entries(found).map(([column, value]) => `${column} ${value.padStart(9)}`)
      say(`${step.toLocaleString('en').padStart(10)}   ${columns.join('   ')}`)
    }
  }
  return true
}

async function isolates(count: number, { folder, upstreamUrl }: Session): Promise<Record<string, string>> {
  const place = { folder: join(folder, `isolates-${count}`), upstreamUrl, peerNode: process.execPath }
  await mkdir(place.folder)
  const redis = await startRedis(place)
  const before = cpuSeconds([redis.pid])
  const found = await measureCell({ ...USUAL, isolates: count, redisUrl: redis.url })
  const ofRedis = ((cpuSeconds([redis.pid]) - before) / (found.calls + 20 * count)) * 1e6
  process.kill(redis.pid)
  return {
    'CPU a call': microseconds(found.cpuPerCall),
    'of Redis': microseconds(ofRedis),
    'store asked': found.storeAsksPerCall.toFixed(2),
    'calls a second': (found.calls / seconds).toFixed(0),
  }
}

let governed: Promise<{ url: string; headers: Record<string, string>; pids: number[] }> | undefined

async function streams(count: number, session: Session): Promise<Record<string, string>> {
  governed ??= startGoverned(session)
  const found = await streamsAtOnce(await governed, session.upstreamUrl, {
    streams: count,
    seconds: seconds + 2,
    paceMs: 1000,
  })
  return {
    cores: found.cpuShare.toFixed(3),
    'CPU a chunk': microseconds((found.cpuShare / count) * 1e6),
    // Of a few nothing can be seen beside what a garbage collection takes and leaves.
    'KiB each': count < 100 ? '-' : found.kibEach.toFixed(0),
    'late of 1,000': ((1000 * found.lateChunks) / Math.max(1, found.chunks)).toFixed(2),
    'ms until closed': found.closedAfterMs?.toFixed(0) ?? 'never',
    refused: String(found.failures + found.refusedAfterwards),
  }
}

async function startGoverned({ folder, upstreamUrl }: Session) {
  const place = { folder: join(folder, 'streams'), upstreamUrl, peerNode: process.execPath }
  await mkdir(place.folder)
  const server = await startGateway(place)
  const key = await governedKey(server, 'growth', 5000)
  return { url: `${server.root}/v1`, headers: bearer(key), pids: [server.pid] }
}

if (options.help) say(USAGE)
else await session(60 * 60, grow)
