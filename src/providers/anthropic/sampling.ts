import { isRecord } from '../../lib/json/lenient.ts'
import type { Drop } from '../../modes/field-table.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { temperatureUpToOne } from '../wire/fitting/within-range.ts'
import { claudeVersion } from './claude-version.ts'

/** Models before Opus 4.1. Later ones refuse a temperature beside a `top_p`, and can be held to a schema. */
export const isBeforeOpus41 = (model: string): boolean => claudeVersion(model) < 401
/** Models since Opus 4.7 refuse to be told how to sample. */
const samplesAlone = (model: string) => claudeVersion(model) >= 407
/** The vendor's default. */
const USUAL_TEMPERATURE = 1
/** A model that thinks takes a `top_p` from here on. */
const LEAST_THINKING_TOP_P = 0.95

/** A `top_p` or `top_k` that asks for something: clients of LangChain send -1 where theirs is not set. */
export const askedShare = (value: unknown): unknown =>
  value === null || (typeof value === 'number' && value < 0) ? undefined : value

export interface Sampling {
  readonly temperature?: unknown
  readonly top_p?: unknown
  readonly top_k?: unknown
}

/** How an answer is sampled. Clients of other vendors send both settings, mostly the usual ones. `thinks`: a model that
 *  thinks takes neither a temperature nor a `top_k`. */
export function samplingFields(body: ModelRequest, model: string, thinks: boolean, drop: Drop): Sampling {
  const temperature = temperatureUpToOne(body.temperature ?? undefined, drop)
  const [top_p, top_k] = [body.top_p, body.top_k].map(askedShare)
  if (thinks || samplesAlone(model)) {
    const takesTopP = !samplesAlone(model) && Number(top_p) >= LEAST_THINKING_TOP_P
    if (temperature !== undefined && temperature !== USUAL_TEMPERATURE) drop('temperature')
    if (top_p !== undefined && top_p !== 1 && !takesTopP) drop('top_p')
    if (top_k !== undefined) drop('top_k')
    return takesTopP ? { top_p } : {}
  }
  const more = top_k === undefined ? {} : { top_k }
  if (temperature === undefined) return top_p === undefined ? more : { top_p, ...more }
  if (top_p === undefined) return { temperature, ...more }
  if (isBeforeOpus41(model)) return { temperature, top_p, ...more }
  if (temperature === USUAL_TEMPERATURE) return { top_p, ...more }
  drop('top_p')
  return { temperature, ...more }
}

/** The changes of a request that is relayed, so that its model takes how it is to be sampled. Servers of the same shape with
 *  models of others are asked as the client does. */
export function samplingChanges(body: ModelRequest, model: string, drop: Drop): Record<string, unknown> {
  if (SETTINGS.every((field) => body[field] == null) || Number.isNaN(claudeVersion(model))) return {}
  const { thinking } = body
  const sampling = samplingFields(body, model, isRecord(thinking) && thinking.type !== 'disabled', drop)
  const changed = SETTINGS.filter((field) => body[field] !== undefined && body[field] !== sampling[field])
  return Object.fromEntries(changed.map((field) => [field, sampling[field]]))
}

const SETTINGS = ['temperature', 'top_p', 'top_k'] as const
