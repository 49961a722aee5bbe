import type { FirstByteResult } from './first-byte.ts'
import type { LoadResult } from './load.ts'

/** What one round found at one target. */
export interface Round {
  readonly one: LoadResult
  readonly sixteen: LoadResult
  readonly sixtyFour: LoadResult
  readonly streams: LoadResult
  readonly long: LoadResult
  readonly embeddings: LoadResult
  readonly firstByte: FirstByteResult
  readonly residentMegabytes: number
}

export type Results = ReadonlyMap<string, readonly Round[]>

interface Measure {
  readonly label: string
  readonly digits: number
  /** `direct` is the round without anything in between. */
  read(round: Round, direct: Round | undefined): number | undefined
}

const added =
  (read: (round: Round) => number): Measure['read'] =>
  (round, direct) =>
    direct && direct !== round ? read(round) - read(direct) : undefined

const MEASURES: readonly Measure[] = [
  { label: 'calls/s, 1 connection', digits: 0, read: (round) => round.one.callsPerSecond },
  { label: 'calls/s, 16 connections', digits: 0, read: (round) => round.sixteen.callsPerSecond },
  { label: 'calls/s, 64 connections', digits: 0, read: (round) => round.sixtyFour.callsPerSecond },
  { label: 'CPU s per 1,000 calls, 1', digits: 3, read: (round) => round.one.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 calls, 16', digits: 3, read: (round) => round.sixteen.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 calls, 64', digits: 3, read: (round) => round.sixtyFour.cpuSecondsPerThousand },
  { label: 'latency p50 ms, 1', digits: 3, read: (round) => round.one.p50Ms },
  { label: 'latency p99 ms, 1', digits: 3, read: (round) => round.one.p99Ms },
  { label: 'added p50 ms, 1', digits: 3, read: added((round) => round.one.p50Ms) },
  { label: 'added p99 ms, 1', digits: 3, read: added((round) => round.one.p99Ms) },
  { label: 'latency p99 ms, 64', digits: 2, read: (round) => round.sixtyFour.p99Ms },
  { label: 'first byte p50 ms', digits: 3, read: (round) => round.firstByte.p50Ms },
  { label: 'first byte p99 ms', digits: 3, read: (round) => round.firstByte.p99Ms },
  { label: 'added first byte p50 ms', digits: 3, read: added((round) => round.firstByte.p50Ms) },
  { label: 'added first byte p99 ms', digits: 3, read: added((round) => round.firstByte.p99Ms) },
  { label: 'whole stream p50 ms', digits: 2, read: (round) => round.firstByte.wholeP50Ms },
  { label: 'streams/s, 16 connections', digits: 0, read: (round) => round.streams.callsPerSecond },
  { label: 'CPU s per 1,000 streams, 16', digits: 3, read: (round) => round.streams.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 chats of 1 MB', digits: 2, read: (round) => round.long.cpuSecondsPerThousand },
  { label: 'CPU s per 1,000 embeddings of 0.6 MB', digits: 2, read: (round) => round.embeddings.cpuSecondsPerThousand },
  { label: 'resident MB', digits: 0, read: (round) => round.residentMegabytes },
]

const RATIOS = ['gateway', 'gateway-redis', 'gateway-key'].flatMap((ours) =>
  ['nginx', 'portkey'].map((other) => [ours, other] as const),
)

/** Medians over the rounds: a row per measure, a column per target, then the ratios. */
export function table(results: Results): string {
  const names = [...results.keys()]
  const ratios = RATIOS.filter(([one, other]) => results.has(one) && results.has(other))
  const rows = MEASURES.map((measure) => {
    const values = new Map(names.map((name) => [name, medianOf(measure, name, results)]))
    const ratio = (one: string, other: string) => {
      const [above, below] = [values.get(one), values.get(other)]
      return above === undefined || below === undefined || below <= 0 ? '-' : `${(above / below).toFixed(2)}×`
    }
    const cells = names.map((name) => {
      const value = values.get(name)
      return value === undefined || (name === 'direct' && value === 0) ? '-' : value.toFixed(measure.digits)
    })
    return [measure.label, ...cells, ...ratios.map(([one, other]) => ratio(one, other))]
  })
  return aligned([['', ...names, ...ratios.map((pair) => pair.join('/'))], ...rows])
}

/** The failed calls of all rounds of a target. */
export function failuresOf(rounds: readonly Round[]): number {
  return rounds
    .flatMap((round) => [round.one, round.sixteen, round.sixtyFour, round.streams, round.long, round.embeddings])
    .reduce((sum, load) => sum + load.failures, 0)
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
