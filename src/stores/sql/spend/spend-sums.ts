import { type FactName, type FactsThat, factOf, factsThat } from './call-facts.ts'
import { LATENCY_SUMS, type LatencySum } from './latency-sums.ts'
import { readerOf, type SpendRow } from './spend-row.ts'

/** The dimensions of the rollups. */
export const SPEND_DIMENSIONS = [
  'key_id',
  'user_id',
  'team_id',
  'organization_id',
  'model',
  'provider',
  'deployment',
] as const satisfies readonly FactsThat<'alike'>[]
export type SpendDimension = (typeof SPEND_DIMENSIONS)[number]

/** The dimensions of the deployment that served a call; the others are the caller's. */
export const SERVED_DIMENSIONS = ['model', 'provider', 'deployment'] as const satisfies readonly SpendDimension[]

/** Counts of calls: the value that each row of the ledger adds. */
const COUNTED = {
  calls: () => 1,
  failed_calls: ({ ending }) => (ending === 'failed' || ending === 'truncated' ? 1 : 0),
  cached_calls: ({ cache }) => (cache === 'hit' ? 1 : 0),
  estimated_calls: ({ estimated }) => (estimated ? 1 : 0),
  unpriced_calls: ({ cost_nano }) => (cost_nano === null ? 1 : 0),
} as const satisfies Record<string, (row: SpendRow) => number>

const SUMMED = factsThat('summed')
export type SpendSum = keyof typeof COUNTED | FactsThat<'summed'> | LatencySum

const OF_FACTS = Object.fromEntries(SUMMED.map((name) => [name, readerOf(name)])) as {
  readonly [Name in FactsThat<'summed'>]: (row: SpendRow) => number | null
}

/** The value that each row of the ledger adds to a sum; null adds nothing. To the buckets of latencies, of which there
 *  are many, it is added by their index. */
export const ADDED_VALUES: Readonly<Record<Exclude<SpendSum, LatencySum>, (row: SpendRow) => number | null>> = {
  ...COUNTED,
  ...OF_FACTS,
}

/** All sums, those of latencies last. */
export const SPEND_SUMS = [...Object.keys(ADDED_VALUES), ...LATENCY_SUMS] as readonly SpendSum[]

/** The sums that are not integers. */
export const SPEND_FRACTIONS: ReadonlySet<string> = new Set<FactName>(
  SUMMED.filter((name) => factOf(name).type === 'double precision'),
)
