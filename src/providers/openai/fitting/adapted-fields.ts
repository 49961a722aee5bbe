import { digestOf } from '../../../lib/crypto.ts'
import { entryOf } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import { nearestEffort } from '../../wire/fitting/nearest-effort.ts'
import { CHAT_FIELDS } from '../../wire/unsupported-fields.ts'
import type { ChatQuirks } from '../chat-quirks.ts'

/** The longest name of a user that OpenAI takes. */
const LONGEST_USER = 64

/** The fields of sampling, with the vendors' defaults. */
const SAMPLING = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const

const SAMPLING_FIELDS = Object.keys(SAMPLING)
const NO_FIELDS: readonly string[] = []
const NOTHING: Readonly<Record<string, undefined>> = {}

/** The fields of a translated request whose values the vendor would refuse, as it takes them. */
export function adaptedFields(
  body: ChatRequest,
  model: string,
  quirks: ChatQuirks,
  drop: Drop,
): Record<string, unknown> {
  const { unknownHints, stops, hottest } = quirks
  const { user, stop, temperature, tools } = body
  const changes: Record<string, unknown> = { ...takenEffort(body, model, quirks, drop) }
  if (typeof user === 'string' && user.length > LONGEST_USER) changes.user = digestOf(user)
  if (stops !== undefined && Array.isArray(stop) && stop.length > stops) {
    changes.stop = stop.slice(0, stops)
    drop('stop')
  }
  if (hottest !== undefined && typeof temperature === 'number' && temperature > hottest) {
    changes.temperature = hottest
    drop('temperature')
  }
  Object.assign(changes, withoutRefused(body, model, effortIn(changes, body), quirks, drop))
  // OpenAI refuses it without tools.
  if (body.parallel_tool_calls !== undefined && !tools?.length) changes.parallel_tool_calls = undefined
  return unknownHints ? { ...changes, ...withoutHints(body, drop, unknownHints) } : changes
}

/** The settings of sampling that a model refuses which reasons so much, and the further fields that its vendor refuses, as
 *  fields that are left out; some clients send them unasked, with values that ask for nothing. */
export function withoutRefused(
  body: ModelRequest,
  model: string,
  effort: unknown,
  { samplesAlone, refuses = NO_FIELDS }: ChatQuirks,
  drop: Drop,
): Readonly<Record<string, undefined>> {
  const isUsual = (field: string) => body[field] === entryOf(SAMPLING, field)
  const isRefused = (field: string) => body[field] !== undefined && (refuses.includes(field) || !isUsual(field))
  const sampling = samplesAlone?.(model, effort) ? SAMPLING_FIELDS : NO_FIELDS
  if (!sampling.some(isRefused) && !refuses.some(isRefused)) return NOTHING
  const present = [...sampling, ...refuses].filter(isRefused)
  for (const field of present) if (isSet(body[field]) && !isUsual(field) && !isNeutral(field, body[field])) drop(field)
  return Object.fromEntries(present.map((field) => [field, undefined]))
}

/** The effort of a request, as the model takes it; nothing where it takes it as it is. */
export function takenEffort(
  { reasoning_effort: effort, tools }: ChatRequest,
  model: string,
  { efforts = [], plainWithTools, toldNotToReason }: ChatQuirks,
  drop: Drop,
): Readonly<Record<string, unknown>> {
  const isPlain = Boolean(tools?.length && plainWithTools?.test(model))
  const isUnthought = toldNotToReason?.test(model) || effort === 'none'
  const taken = nearestEffort(isPlain ? (isUnthought ? 'none' : undefined) : effort, model, efforts)
  if (taken === effort) return NOTHING
  if (isSet(effort) && (taken === undefined || isPlain)) drop('reasoning_effort')
  return { reasoning_effort: taken }
}

/** The effort of a request after changes. */
export function effortIn(changes: Readonly<Record<string, unknown>>, body: ChatRequest): unknown {
  return 'reasoning_effort' in changes ? changes.reasoning_effort : body.reasoning_effort
}

/** The hints of a request, as fields that are left out. */
export function withoutHints(body: ChatRequest, drop: Drop, hints: readonly string[]): Record<string, undefined> {
  const present = hints.filter((field) => body[field] !== undefined)
  for (const field of present) if (isSet(body[field]) && !isNeutral(field, body[field])) drop(field)
  return Object.fromEntries(present.map((field) => [field, undefined]))
}

const isNeutral = (field: string, value: unknown) => CHAT_FIELDS[field]?.neutral?.includes(value)

const isSet = (value: unknown) => value !== undefined && value !== null
