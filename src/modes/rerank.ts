import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { perUnit, tokensInstead } from './price/tariff.ts'
import { tokensOfCharacters } from './usage.ts'

const document = () => z.union([z.string(), z.looseObject({ text: z.string() })])

const rerankRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    query: z.string().min(1).describe('What the documents are compared with.'),
    documents: z.array(document()).min(1).describe('Texts, or objects with a text.'),
    top_n: z.int().min(1).nullish().describe('How many results; all when left out.'),
    return_documents: z.boolean().nullish(),
  }),
)
export type RerankRequest = z.output<ReturnType<typeof rerankRequest>>

/** Vendors bill a query with up to 100 documents as one unit. */
const DOCUMENTS_A_UNIT = 100
/** A document that is longer together with its query counts as several. */
const DOCUMENT_CHARACTERS = 4 * 500
/** The typical tokens of one unit, at vendors that bill tokens. */
const UNIT = { input: 100 * DOCUMENTS_A_UNIT, output: 0 }

export const rerank: Mode<RerankRequest> = {
  name: 'rerank',
  schema: rerankRequest,
  body: 'json',
  unit: 'rerankUnits',
  smallest: { query: 'Hi', documents: ['Hi'] },
  longest: () => 0,
  measure(request) {
    const documents = sumOf(request, (characters) => Math.ceil(characters / DOCUMENT_CHARACTERS))
    return { rerankUnits: Math.ceil(documents / DOCUMENTS_A_UNIT) }
  },
  unreported: (request) => ({ inputTokens: tokensOfCharacters(sumOf(request, (all) => all)), outputTokens: 0 }),
  tariffs: [perUnit('rerankUnits', 'cost_per_rerank_unit'), tokensInstead(UNIT)],
}

/** Sums `of` over the documents. Each counts with the query: the model reads both together. */
function sumOf({ query, documents }: RerankRequest, of: (characters: number) => number): number {
  return documents.reduce<number>((sum, document) => sum + of(query.length + charactersOf(document)), 0)
}

function charactersOf(document: RerankRequest['documents'][number]): number {
  if (typeof document === 'string') return document.length
  let characters = 0
  for (const name in document) {
    const value = document[name]
    characters += typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)
  }
  return characters
}
