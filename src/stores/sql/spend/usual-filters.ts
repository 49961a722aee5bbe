import { type RawBuilder, sql } from 'kysely'
import { unequal } from './spend-filters.ts'

/** Filters of the log by what most calls have in common. Only the unusual values are indexed. */
export interface UsualFilters {
  readonly endpoint?: string | undefined
  readonly cache?: 'hit' | 'miss' | 'off' | undefined
  /** Calls that took at least so long. */
  readonly min_total_ms?: number | undefined
  readonly not_ending?: string | undefined
  readonly not_error_type?: string | undefined
}

/** The endpoint whose calls are not indexed. */
const USUAL_ENDPOINT = '/v1/chat/completions'
/** Calls that took so long are indexed. */
const SLOW_MS = 10_000

/** The filter that no index serves, so that a query has to be bounded in time; undefined if there is none. */
export function unindexed(filters: UsualFilters): string | undefined {
  const { endpoint, cache, min_total_ms } = filters
  if (endpoint === USUAL_ENDPOINT) return 'endpoint'
  if (cache === 'miss' || cache === 'off') return 'cache'
  if (min_total_ms !== undefined && min_total_ms < SLOW_MS) return 'min_total_ms'
  return Object.entries(filters).find(([name, value]) => name.startsWith('not_') && value !== undefined)?.[0]
}

/** The conditions, with those of the indexes in the words of the schema. */
export function usualConditions(filters: UsualFilters): (RawBuilder<unknown> | undefined)[] {
  const { endpoint, cache, min_total_ms, not_ending, not_error_type } = filters
  return [
    unequal('ending', not_ending),
    unequal('error_type', not_error_type),
    endpoint === undefined ? undefined : sql`endpoint = ${endpoint}`,
    endpoint === undefined || endpoint === USUAL_ENDPOINT ? undefined : sql`endpoint <> '/v1/chat/completions'`,
    cache === undefined ? undefined : cache === 'hit' ? sql`cache = 'hit'` : sql`cache = ${cache}`,
    min_total_ms === undefined ? undefined : sql`total_ms >= ${min_total_ms}`,
    min_total_ms === undefined || min_total_ms < SLOW_MS ? undefined : sql`total_ms >= 10000`,
  ]
}
