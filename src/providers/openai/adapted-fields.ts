import { digestOf } from '../../lib/crypto.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { CHAT_FIELDS } from '../wire/unsupported-fields.ts'
import type { ChatQuirks } from './chat-quirks.ts'

/** The longest name of a user that OpenAI takes. */
const LONGEST_USER = 64

/** The fields of a translated request whose values the vendor would refuse, as it takes them. */
export function adaptedFields(
  body: ChatRequest,
  model: string,
  { refusesHints, stops, effortless }: Pick<ChatQuirks, 'refusesHints' | 'stops' | 'effortless'>,
  drop: Drop,
): Record<string, unknown> {
  const { user, stop, reasoning_effort: effort } = body
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
  if (effort !== undefined && effortless?.test(model)) leaveOut('reasoning_effort')
  if (!refusesHints) return changes
  for (const field in body) {
    if (field in UNKNOWN && body[field] !== undefined) leaveOut(field)
  }
  return changes
}

/** OpenAI's hints that other vendors of its shape may not know. */
const { user, safety_identifier, prompt_cache_key, prompt_cache_retention, verbosity, store } = CHAT_FIELDS
const UNKNOWN = { user, safety_identifier, prompt_cache_key, prompt_cache_retention, verbosity, store }
