import { asRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'

/** What limits a search. */
const FILTERS = [
  'search_domain_filter',
  'search_recency_filter',
  'search_after_date_filter',
  'search_before_date_filter',
  'last_updated_after_filter',
  'last_updated_before_filter',
] as const

/** The fields of its former chat that are about its search, and OpenAI's. */
export const SEARCH_FIELDS = [...FILTERS, 'web_search_options', 'num_search_results', 'disable_search'] as const

/** Its own models have always searched, unless they were told not to. */
const SEARCHES_UNASKED = /^perplexity\//

/** The tool with which a model searches the web; undefined if it should not. */
export function searchOf(body: ChatRequest, model: string): JsonRecord | undefined {
  const isAsked = SEARCH_FIELDS.some((field) => body[field] != null)
  if (body.disable_search === true || !(isAsked || SEARCHES_UNASKED.test(model))) return undefined
  const { search_context_size, user_location } = asRecord(body.web_search_options)
  const filters = present(Object.fromEntries(FILTERS.map((field) => [field, body[field]])))
  return present({
    type: 'web_search',
    search_context_size,
    user_location: user_location == null ? undefined : placeOf(user_location),
    max_results: body.num_search_results,
    filters: Object.keys(filters).length === 0 ? undefined : filters,
  })
}

/** A place in its own words; OpenAI's has the same a level deeper. */
function placeOf(place: unknown): JsonRecord {
  const { approximate, ...own } = asRecord(place)
  const { latitude, longitude, country, region, city } = { ...own, ...asRecord(approximate) }
  return present({ latitude, longitude, country, region, city })
}

const present = (fields: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
