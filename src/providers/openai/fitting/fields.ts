import { digestOf } from '../../../lib/crypto.ts'
import { entryOf } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import { CHAT_FIELDS } from '../../wire/unsupported-fields.ts'
import { type EffortQuirks, effortIn, takenEffort } from './efforts.ts'

/** Where the fields that a vendor takes, and their values, differ from OpenAI's. */
export interface FieldQuirks {
  /** OpenAI's hints that it refuses with all fields that it does not know. Requests in chat are searched for them as well,
   *  since clients send some unasked. */
  readonly unknownHints?: readonly string[]
  /** Further fields that it refuses, which do not change the meaning of an answer. */
  readonly refuses?: readonly string[]
  /** Fields that some of its models refuse, also where they ask for nothing: they are left out there. */
  readonly refusedBySome?: readonly string[]
  /** The most stop sequences that it takes. */
  readonly stops?: number
  /** The highest temperature that it takes, if chat's is higher. */
  readonly hottest?: number
  /** Its name for `seed`. */
  readonly seed?: string
  /** Whether a model that reasons so much refuses to be told how to sample. */
  readonly samplesAlone?: (model: string, effort: unknown) => boolean
}

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
  { fields = {}, efforts = {} }: { readonly fields?: FieldQuirks; readonly efforts?: EffortQuirks },
  drop: Drop,
): Record<string, unknown> {
  const { unknownHints, stops, hottest } = fields
  const { user, stop, temperature, tools } = body
  const changes: Record<string, unknown> = { ...takenEffort(body, model, efforts, drop) }
  if (typeof user === 'string' && user.length > LONGEST_USER) changes.user = digestOf(user)
  if (stops !== undefined && Array.isArray(stop) && stop.length > stops) {
    changes.stop = stop.slice(0, stops)
    drop('stop')
  }
  if (hottest !== undefined && typeof temperature === 'number' && temperature > hottest) {
    changes.temperature = hottest
    drop('temperature')
  }
  Object.assign(changes, withoutRefused(body, model, effortIn(changes, body), fields, drop))
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
  { samplesAlone, refuses = NO_FIELDS, refusedBySome = NO_FIELDS }: FieldQuirks,
  drop: Drop,
): Readonly<Record<string, undefined>> {
  const isUsual = (field: string) => body[field] === entryOf(SAMPLING, field)
  const isRefused = (field: string) => body[field] !== undefined && (refuses.includes(field) || !isUsual(field))
  const sampling = samplesAlone?.(model, effort) ? SAMPLING_FIELDS : NO_FIELDS
  const idle = refusedBySome.filter((field) => isNeutral(field, body[field]))
  if (idle.length === 0 && !sampling.some(isRefused) && !refuses.some(isRefused)) return NOTHING
  const present = [...[...sampling, ...refuses].filter(isRefused), ...idle]
  for (const field of present) if (isSet(body[field]) && !isUsual(field) && !isNeutral(field, body[field])) drop(field)
  return Object.fromEntries(present.map((field) => [field, undefined]))
}

/** The hints of a request, as fields that are left out. */
export function withoutHints(body: ChatRequest, drop: Drop, hints: readonly string[]): Record<string, undefined> {
  const present = hints.filter((field) => body[field] !== undefined)
  for (const field of present) if (isSet(body[field]) && !isNeutral(field, body[field])) drop(field)
  return Object.fromEntries(present.map((field) => [field, undefined]))
}

const isNeutral = (field: string, value: unknown) =>
  CHAT_FIELDS[field]?.neutral?.includes(value) || (Array.isArray(value) && value.length === 0)

const isSet = (value: unknown) => value !== undefined && value !== null
