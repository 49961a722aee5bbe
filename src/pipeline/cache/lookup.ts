import type { CacheLookup } from '../../stores/kv/answer-cache.ts'
import type { CacheUse } from './cache-use.ts'

/** The lease of a lead: a leader that was killed strands the others no longer than that. */
export const LEAD_SECONDS = 10

/** The look of an admission. */
export const lookupOf = ({ answers, clearings, lead, ttlSeconds }: CacheUse): CacheLookup => ({
  answers,
  clearings,
  maxAgeSeconds: ttlSeconds,
  lead,
  leadSeconds: LEAD_SECONDS,
})
