import { digestOf } from '../../../lib/crypto.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { nearestEffort } from '../../wire/fitting/nearest-effort.ts'
import { CHAT_FIELDS } from '../../wire/unsupported-fields.ts'
import type { ChatQuirks } from '../chat-quirks.ts'

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
  const { unknownHints, stops, refuses = [], samplesAlone, hottest } = quirks
  const { user, stop, temperature, tools } = body
  const changes = takenEffort(body, model, quirks, drop)
  const leaveOut = (field: string) => {
    changes[field] = undefined
    drop(field)
  }
  if (typeof user === 'string' && user.length > LONGEST_USER) changes.user = digestOf(user)
  if (stops !== undefined && Array.isArray(stop) && stop.length > stops) {
    changes.stop = stop.slice(0, stops)
    drop('stop')
  }
  if (hottest !== undefined && typeof temperature === 'number' && temperature > hottest) {
    changes.temperature = hottest
    drop('temperature')
  }
  const effort = 'reasoning_effort' in changes ? changes.reasoning_effort : body.reasoning_effort
  if (samplesAlone?.(model, effort)) {
    for (const [field, usual] of Object.entries(SAMPLING))
      if (isSet(body[field]) && body[field] !== usual) leaveOut(field)
  }
  // OpenAI refuses it without tools.
  if (body.parallel_tool_calls !== undefined && !tools?.length) changes.parallel_tool_calls = undefined
  for (const field of refuses) if (isSet(body[field])) leaveOut(field)
  return unknownHints ? { ...changes, ...withoutHints(body, drop, unknownHints) } : changes
}

/** The effort of a request, as the model takes it; nothing where it takes it as it is. */
export function takenEffort(
  { reasoning_effort: effort, tools }: ChatRequest,
  model: string,
  { efforts = [], plainWithTools, toldNotToReason }: ChatQuirks,
  drop: Drop,
): Record<string, unknown> {
  const isPlain = Boolean(tools?.length && plainWithTools?.test(model))
  const isUnthought = toldNotToReason?.test(model) || effort === 'none'
  const taken = nearestEffort(isPlain ? (isUnthought ? 'none' : undefined) : effort, model, efforts)
  if (taken === effort) return {}
  if (isSet(effort) && (taken === undefined || isPlain)) drop('reasoning_effort')
  return { reasoning_effort: taken }
}

/** The fields of a request that its vendor refuses and that ask for nothing, as fields that are left out: some clients send
 *  them unasked. */
export function withoutNeutral(body: ChatRequest, { refuses = [] }: ChatQuirks): Record<string, undefined> {
  const neutral = refuses.filter((field) => body[field] !== undefined && isNeutral(field, body[field]))
  return Object.fromEntries(neutral.map((field) => [field, undefined]))
}

/** The hints of a request, as fields that are left out. */
export function withoutHints(body: ChatRequest, drop: Drop, hints: readonly string[]): Record<string, undefined> {
  const present = hints.filter((field) => body[field] !== undefined)
  for (const field of present) if (isSet(body[field]) && !isNeutral(field, body[field])) drop(field)
  return Object.fromEntries(present.map((field) => [field, undefined]))
}

const isNeutral = (field: string, value: unknown) => CHAT_FIELDS[field]?.neutral?.includes(value)

const isSet = (value: unknown) => value !== undefined && value !== null
