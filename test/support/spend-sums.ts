import { bucketsOf, LATENCIES, LATENCY_BOUNDS, type LatencySum } from '../../src/stores/sql/spend/latency-sums.ts'
import { SERVED_DIMENSIONS, SPEND_DIMENSIONS, type SpendSum } from '../../src/stores/sql/spend/spend-sums.ts'

/** The same of the buckets of latencies. */
const LATENCY_TERMS = Object.fromEntries(
  LATENCIES.flatMap((latency) =>
    bucketsOf(latency).map((name, index) => {
      const [above = -1, upTo = 'infinity'] = [LATENCY_BOUNDS[index - 1], LATENCY_BOUNDS[index]]
      const within = `${latency} > ${above} AND ${latency} <= '${upTo}'::float`
      return [name, `coalesce(${within} AND ending = 'answered' AND cache <> 'hit', false)::int`]
    }),
  ),
) as Record<LatencySum, string>

/** How a row of the ledger adds to each sum, in the words of the database. */
const TERMS: Record<SpendSum, string> = {
  calls: '1',
  failed_calls: "(ending IN ('failed', 'truncated'))::int",
  cached_calls: "(cache = 'hit')::int",
  estimated_calls: 'estimated::int',
  unpriced_calls: '(cost_nano IS NULL)::int',
  input_tokens: 'input_tokens',
  output_tokens: 'output_tokens',
  cached_input_tokens: 'cached_input_tokens',
  cache_creation_input_tokens: 'cache_creation_input_tokens',
  reasoning_tokens: 'reasoning_tokens',
  images: 'images',
  audio_seconds: 'audio_seconds',
  characters: 'characters',
  rerank_units: 'rerank_units',
  cost_nano: 'coalesce(cost_nano, 0)',
  saved_nano: 'saved_nano',
  total_ms: 'total_ms',
  ...LATENCY_TERMS,
}

/** Each dimension of a call with its value there. */
const DIMENSION_VALUES = `
  SELECT * FROM (VALUES ${["('all', '')", ...SPEND_DIMENSIONS.map((name) => `('${name}', ${name})`)].join(', ')})
    AS one (dimension, value)
  UNION ALL SELECT 'tag', tag FROM unnest(tags) AS tag`

const SOURCES = {
  gateway_spend_rollup: [[...SPEND_DIMENSIONS], 'gateway_spend'],
  gateway_spend_tag_rollup: [['tag', ...SPEND_DIMENSIONS], 'gateway_spend, unnest(tags) AS tag'],
  gateway_spend_served: [[...SERVED_DIMENSIONS], 'gateway_spend'],
  gateway_spend_total: [['dimension', 'value'], `gateway_spend CROSS JOIN LATERAL (${DIMENSION_VALUES}) AS of`],
} as const

export type SumTable = keyof typeof SOURCES | 'gateway_spend_key_day'
export const SUM_TABLES = [...Object.keys(SOURCES), 'gateway_spend_key_day'] as SumTable[]

const KEY_DAYS = {
  columns: 'day, key_id, cost_nano',
  query: `
    SELECT date_trunc('day', at, 'UTC') AS day, key_id, sum(cost_nano) AS cost_nano
    FROM gateway_spend WHERE cost_nano > 0 GROUP BY 1, 2`,
}

/** The columns of a table of sums, and the query that makes its rows out of the ledger's. */
export function summedUp(table: SumTable): { readonly columns: string; readonly query: string } {
  if (table === 'gateway_spend_key_day') return KEY_DAYS
  const [own, source] = SOURCES[table]
  const keys = ['grain', 'bucket', ...own].join(', ')
  return {
    columns: `${keys}, ${Object.keys(TERMS).join(', ')}`,
    query: `
      SELECT grain, date_trunc(grain, at, 'UTC') AS bucket, ${own.join(', ')},
        ${Object.entries(TERMS)
          .map(([name, term]) => `sum(${term})${name in LATENCY_TERMS ? '::int' : ''} AS ${name}`)
          .join(', ')}
      FROM ${source}, (VALUES ('hour'), ('day')) AS each (grain) GROUP BY ${keys}`,
  }
}
