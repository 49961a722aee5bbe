import type { ChatRequest } from '../../../modes/chat.ts'

/** By which of its two names a vendor takes the limit of output tokens. */
export interface LimitQuirks {
  /** The only one that it knows; absent if it accepts both. */
  readonly name?: 'max_tokens' | 'max_completion_tokens'
  /** Its models that know the newer one alone. */
  readonly newer?: RegExp
}

/** Most vendors know OpenAI's older name. */
export const MAX_TOKENS = { name: 'max_tokens' } as const satisfies LimitQuirks

/** The limit of output tokens under the vendor's name for it. A request with both names is left to the vendor. */
export function takenLimit(
  body: ChatRequest,
  model: string,
  { name, newer }: LimitQuirks,
): Readonly<Record<string, unknown>> {
  const known = newer?.test(model) ? 'max_completion_tokens' : name
  if (known === undefined) return NOTHING
  const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (body[other] === undefined || (body[other] !== null && body[known] != null)) return NOTHING
  return { [other]: undefined, ...(body[other] === null ? {} : { [known]: body[other] }) }
}

const NOTHING = {}
