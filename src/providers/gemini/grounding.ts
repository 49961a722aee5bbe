import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { ToolUses } from '../../modes/price/surcharges.ts'
import { surchargesAsked } from '../../modes/price/surcharges-asked.ts'
import { generationOf } from './generation-of.ts'

interface Grounding {
  readonly model: string
  /** The search that a request asks for, whose queries are billed; undefined if it asks for maps alone. */
  readonly search: string | undefined
}

const MAPS = 'google_maps'

/** What a request asks for of Google's own tools. */
export function groundingAsked(body: ModelRequest): Grounding {
  const uses = surchargesAsked(body).filter(({ kind }) => kind === 'use')
  const search = uses.find(({ name }) => name !== MAPS)?.name
  return { model: body.model, search: search ?? (uses.length === 0 ? 'google_search' : undefined) }
}

/** What of Google's tools an answer is billed for: every query of a search, before the third generation an answer that was
 *  searched for; and an answer with a place among its sources. */
export function usesIn({ candidates, modelVersion }: JsonRecord, { model, search }: Grounding): ToolUses {
  const served = generationOf(asText(modelVersion)) ?? generationOf(model) ?? 0
  const grounds = asList(candidates).map((one) => asRecord(asRecord(one).groundingMetadata))
  const queries = grounds.flatMap((one) => [...asList(one.webSearchQueries), ...asList(one.imageSearchQueries)])
  const found = grounds.some(({ groundingChunks }) => asList(groundingChunks).some((chunk) => asRecord(chunk).maps))
  return {
    ...(search === undefined ? {} : { [search]: served < 3 ? Math.min(1, queries.length) : queries.length }),
    [MAPS]: found ? 1 : 0,
  }
}

/** What a stream has told so far: later events repeat what earlier ones said, or leave it out. */
export function mostOf(one: ToolUses, other: ToolUses): ToolUses {
  return Object.fromEntries(Object.entries(other).map(([name, times]) => [name, Math.max(times, one[name] ?? 0)]))
}
