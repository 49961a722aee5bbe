import type { FirstByteResult } from './first-byte.ts'
import type { LoadName, LoadResult } from './load.ts'
import type { StartTimes } from './start-times.ts'
import type { StreamsResult } from './streams-at-once.ts'

/** What one round found at one target, as far as it was asked. */
export interface Round {
  readonly loads: Readonly<Partial<Record<LoadName, LoadResult>>>
  /** The mean before its upstream calls, by its own metrics, at one connection. */
  readonly toldOverheadMs: number | undefined
  readonly firstByte: FirstByteResult | undefined
  readonly residentMegabytes: number
  readonly streamsAtOnce: StreamsResult | undefined
  readonly starts: StartTimes | undefined
}

export type Results = ReadonlyMap<string, readonly Round[]>

interface Measure {
  readonly label: string
  readonly digits: number
  /** `direct` is the round without anything in between. */
  read(round: Round, direct: Round | undefined): number | undefined
}

const added =
  (read: (round: Round) => number | undefined): Measure['read'] =>
  (round, direct) => {
    const [own, without] = [read(round), direct && direct !== round ? read(direct) : undefined]
    return own === undefined || without === undefined ? undefined : own - without
  }

const lateShare = (found: StreamsResult | undefined) => found && (1000 * found.lateChunks) / Math.max(1, found.chunks)

const MEASURES: readonly Measure[] = [
  { label: 'calls/s, 1 connection', digits: 0, read: (round) => round.loads.one?.callsPerSecond },
  { label: 'calls/s, 16 connections', digits: 0, read: (round) => round.loads.sixteen?.callsPerSecond },
  { label: 'calls/s, 64 connections', digits: 0, read: (round) => round.loads.sixtyFour?.callsPerSecond },
  { label: 'CPU s per 1,000 calls, 1', digits: 3, read: (round) => round.loads.one?.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 calls, 16', digits: 3, read: (round) => round.loads.sixteen?.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 calls, 64', digits: 3, read: (round) => round.loads.sixtyFour?.cpuSecondsPerThousand },
  { label: 'latency p50 ms, 1', digits: 3, read: (round) => round.loads.one?.p50Ms },
  { label: 'latency p99 ms, 1', digits: 3, read: (round) => round.loads.one?.p99Ms },
  { label: 'added p50 ms, 1', digits: 3, read: added((round) => round.loads.one?.p50Ms) },
  { label: 'added p99 ms, 1', digits: 3, read: added((round) => round.loads.one?.p99Ms) },
  { label: 'of it before the upstream call, as told, 1', digits: 3, read: (round) => round.toldOverheadMs },
  { label: 'latency p99 ms, 64', digits: 2, read: (round) => round.loads.sixtyFour?.p99Ms },
  { label: 'first byte p50 ms', digits: 3, read: (round) => round.firstByte?.p50Ms },
  { label: 'first byte p99 ms', digits: 3, read: (round) => round.firstByte?.p99Ms },
  { label: 'added first byte p50 ms', digits: 3, read: added((round) => round.firstByte?.p50Ms) },
  { label: 'added first byte p99 ms', digits: 3, read: added((round) => round.firstByte?.p99Ms) },
  { label: 'whole stream p50 ms', digits: 2, read: (round) => round.firstByte?.wholeP50Ms },
  { label: 'streams/s, 16 connections', digits: 0, read: (round) => round.loads.streams?.callsPerSecond },
  { label: 'CPU s per 1,000 streams, 16', digits: 3, read: (round) => round.loads.streams?.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 chats of 1 MB', digits: 2, read: (round) => round.loads.long?.cpuSecondsPerThousand },
  { label: '… of 1 MB full of quotes', digits: 2, read: (round) => round.loads.quoted?.cpuSecondsPerThousand },
  {
    label: 'CPU s per 1,000 embeddings of 0.6 MB',
    digits: 2,
    read: (round) => round.loads.embeddings?.cpuSecondsPerThousand,
  },
  { label: '1,000 streams, cores', digits: 2, read: (round) => round.streamsAtOnce?.cpuShare },
  { label: '1,000 streams, KiB each', digits: 0, read: (round) => round.streamsAtOnce?.kibEach },
  { label: '1,000 streams, late chunks of 1,000', digits: 2, read: (round) => lateShare(round.streamsAtOnce) },
  { label: '1,000 streams, p99 ms from sent to read', digits: 0, read: (round) => round.streamsAtOnce?.latenessP99Ms },
  { label: '1,000 streams, open 1 s after', digits: 0, read: (round) => round.streamsAtOnce?.leftOpen },
  { label: '1,000 streams, ms until all are closed', digits: 0, read: (round) => round.streamsAtOnce?.closedAfterMs },
  { label: 'start to first answer ms, new folder', digits: 0, read: (round) => round.starts?.firstAnswerMs },
  { label: '… again', digits: 0, read: (round) => round.starts?.warmFirstAnswerMs },
  { label: 'start to database ready ms, new folder', digits: 0, read: (round) => round.starts?.readyMs },
  { label: '… again', digits: 0, read: (round) => round.starts?.warmReadyMs },
  { label: 'resident MB', digits: 0, read: (round) => round.residentMegabytes },
]

const RATIOS = [
  ['gateway-key', 'nginx'] as const,
  ...['gateway-postgres', 'gateway-redis'].flatMap((ours) =>
    ['nginx', 'portkey'].map((other) => [ours, other] as const),
  ),
  ['workerd', 'workerd-proxy'] as const,
  ['workerd', 'workerd-floor'] as const,
]

/** Medians over the rounds: a row per measure, a column per target, then the ratios. */
export function table(results: Results): string {
  const names = [...results.keys()]
  const ratios = RATIOS.filter(([one, other]) => results.has(one) && results.has(other))
  const rows = MEASURES.flatMap((measure) => {
    const values = new Map(names.map((name) => [name, medianOf(measure, name, results)]))
    if ([...values.values()].every((value) => value === undefined)) return []
    const ratio = (one: string, other: string) => {
      const [above, below] = [values.get(one), values.get(other)]
      return above === undefined || below === undefined || below <= 0 ? '-' : `${(above / below).toFixed(2)}×`
    }
    const cells = names.map((name) => {
      const value = values.get(name)
      return value === undefined || (name === 'direct' && value === 0) ? '-' : value.toFixed(measure.digits)
    })
    return [[measure.label, ...cells, ...ratios.map(([one, other]) => ratio(one, other))]]
  })
  return aligned([['', ...names, ...ratios.map((pair) => pair.join('/'))], ...rows])
}

/** The failed calls of all rounds of a target. */
export function failuresOf(rounds: readonly Round[]): number {
  return rounds.flatMap((round) => Object.values(round.loads)).reduce((sum, load) => sum + load.failures, 0)
}

function medianOf(measure: Measure, name: string, results: Results): number | undefined {
  const rounds = results.get(name) ?? []
  const values = rounds
    .map((round, index) => measure.read(round, results.get('direct')?.[index]))
    .filter((value) => value !== undefined)
    .toSorted((a, b) => a - b)
  const middle = values.length / 2
  if (values.length === 0) return undefined
  return ((values[Math.ceil(middle) - 1] ?? 0) + (values[Math.floor(middle)] ?? 0)) / 2
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    )
    .join('\n')
}
