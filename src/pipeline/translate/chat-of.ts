import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { asRequestFailure } from '../failures.ts'
import type { Dialect } from './dialect.ts'

interface InChat {
  readonly chat: ModelRequest
  /** The hints that chat does not have. */
  readonly dropped: readonly string[]
}

/** Cached by body: a request is translated once, however many deployments are considered. */
const translations = new WeakMap<ModelRequest, InChat>()

/** A request of a dialect as chat. Throws its refusal if chat cannot express it. */
export function chatOf(request: ModelRequest, dialect: Dialect): InChat {
  const known = translations.get(request)
  if (known) return known
  try {
    const dropped = new Set<string>()
    const chat = dialect.toChat(request, (field) => void dropped.add(field))
    const translation = { chat, dropped: [...dropped] }
    translations.set(request, translation)
    return translation
  } catch (error) {
    throw error instanceof RangeError ? asRequestFailure(error) : error
  }
}

/** Whether chat can express a request of this dialect. */
export function isExpressibleInChat(request: ModelRequest, dialect: Dialect): boolean {
  if (dialect.native === 'chat') return true
  try {
    chatOf(request, dialect)
    return true
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}
