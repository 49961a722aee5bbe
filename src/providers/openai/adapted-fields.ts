import { digestOf } from '../../lib/crypto.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { nearestEffort } from '../wire/fitting/nearest-effort.ts'
import { CHAT_FIELDS } from '../wire/unsupported-fields.ts'
import type { ChatQuirks } from './chat-quirks.ts'

/** The longest name of a user that OpenAI takes. */
const LONGEST_USER = 64

/** The fields of sampling, with the vendors' defaults. */
const SAMPLING = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const

/** The fields of a translated request whose values the vendor would refuse, as it takes them. */
export function adaptedFields(
  body: ChatRequest,
  model: string,
  quirks: ChatQuirks,
  drop: Drop,
): Record<string, unknown> {
  const { refusesHints, unknownHints, stops, refuses = [], efforts = [], plainWithTools } = quirks
  const { toldNotToReason, samplesAlone, hottest } = quirks
  const { user, stop, reasoning_effort: effort, temperature, tools } = body
  const changes: Record<string, unknown> = {}
  const leaveOut = (field: string) => {
    changes[field] = undefined
    drop(field)
  }
  if (typeof user === 'string' && user.length > LONGEST_USER) changes.user = digestOf(user)
  if (stops !== undefined && Array.isArray(stop) && stop.length > stops) {
    changes.stop = stop.slice(0, stops)
    drop('stop')
  }
  const isPlain = Boolean(tools?.length && plainWithTools?.test(model))
  const isUnthought = toldNotToReason?.test(model) || effort === 'none'
  const taken = nearestEffort(isPlain ? (isUnthought ? 'none' : undefined) : effort, model, efforts)
  if (taken !== effort) changes.reasoning_effort = taken
  if (isSet(effort) && (taken === undefined || (isPlain && taken !== effort))) drop('reasoning_effort')
  if (hottest !== undefined && typeof temperature === 'number' && temperature > hottest) {
    changes.temperature = hottest
    drop('temperature')
  }
  if (samplesAlone?.(model, taken)) {
    for (const [field, usual] of Object.entries(SAMPLING))
      if (isSet(body[field]) && body[field] !== usual) leaveOut(field)
  }
  // OpenAI refuses it without tools.
  if (body.parallel_tool_calls !== undefined && !tools?.length) changes.parallel_tool_calls = undefined
  for (const field of refuses) if (isSet(body[field])) leaveOut(field)
  return refusesHints ? { ...changes, ...withoutHints(body, drop, unknownHints) } : changes
}

/** The hints of a request, as fields that are left out. */
export function withoutHints(
  body: ChatRequest,
  drop: Drop,
  hints: readonly string[] = HINTS,
): Record<string, undefined> {
  const present = hints.filter((field) => body[field] !== undefined)
  for (const field of present) if (isSet(body[field]) && !isNeutral(field, body[field])) drop(field)
  return Object.fromEntries(present.map((field) => [field, undefined]))
}

const isNeutral = (field: string, value: unknown) => CHAT_FIELDS[field]?.neutral?.includes(value)

const isSet = (value: unknown) => value !== undefined && value !== null

/** OpenAI's hints that other vendors of its shape may not know. */
const HINTS = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'verbosity',
  'store',
]
