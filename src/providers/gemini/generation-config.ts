import { asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { stopsUpTo } from '../wire/fitting/within-range.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { GEMINI } from './api-name.ts'
import { generationOf } from './generation-of.ts'
import { thinkingOf } from './thinking.ts'

const MOST_STOPS = 5

/** The generation settings of a chat request. */
export function generationConfigOf(body: ChatRequest, model: string, drop: Drop): JsonRecord | undefined {
  const { stop, modalities } = body
  const config: Record<string, unknown> = {
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stopSequences: stopsUpTo(MOST_STOPS, stop, drop),
    candidateCount: body.n === 1 ? undefined : body.n,
    seed: body.seed,
    presencePenalty: penaltyOf('presence_penalty', body, model, drop),
    frequencyPenalty: penaltyOf('frequency_penalty', body, model, drop),
    responseLogprobs: body.logprobs === true ? true : undefined,
    logprobs: body.logprobs === true ? body.top_logprobs : undefined,
    responseModalities: Array.isArray(modalities) ? modalities.map(modalityOf) : undefined,
    thinkingConfig: thinkingOf(body, model),
    ...formatOf(body.response_format),
  }
  const set = Object.entries(config).filter(([, value]) => value !== undefined && value !== null)
  return set.length === 0 ? undefined : Object.fromEntries(set)
}

/** Some models know no penalties, not even none, and those since generation 4 refuse all. */
function penaltyOf(field: 'presence_penalty' | 'frequency_penalty', body: ChatRequest, model: string, drop: Drop) {
  const penalty = body[field] || undefined
  if (penalty === undefined || (generationOf(model) ?? 0) < 4) return penalty
  drop(field)
  return undefined
}

function modalityOf(modality: unknown): string {
  if (modality === 'text' || modality === 'image') return modality.toUpperCase()
  throw unsupported('modalities', GEMINI, 'Ask for text or image.')
}

function formatOf(format: unknown): JsonRecord {
  const { type, json_schema } = asRecord(format)
  if (type === undefined || type === 'text') return {}
  if (type === 'json_object') return { responseMimeType: 'application/json' }
  if (type !== 'json_schema')
    throw unsupported(`response_format.type`, GEMINI, `'${asText(type)}' is not among its formats.`)
  return { responseMimeType: 'application/json', responseJsonSchema: asRecord(json_schema).schema }
}
