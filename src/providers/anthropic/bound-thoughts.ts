import { asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { isSecret, reveal } from '../../lib/secret.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { Connection } from '../provider.ts'
import { forcesTools } from '../wire/fitting/asked-call.ts'
import { ownThinking } from '../wire/fitting/own-thinking.ts'
import { claudeVersion } from './claude-version.ts'

/** The beta that a request with `block_binding` is part of. */
const BETA = 'thinking-binding-controls-2026-08-01'

interface Thoughts {
  readonly messages: ChatRequest['messages']
  readonly thinking: JsonRecord | undefined
}

/** Whether a thought of a model belongs to all that was said before it. */
export const bindsThoughts = (model: string): boolean => claudeVersion(model) > 500

/** The thoughts of earlier turns, and how the model is told to think. Since 5.1 a thought belongs to all that was said
 *  before it, tools and instructions included, and is refused behind anything else. Clients of other APIs change these from
 *  call to call and cannot ask for such a thought to be left out: it is asked for here. A model that is not to think cannot
 *  be asked, and gets none. */
export function boundThoughts(body: ChatRequest, thinking: JsonRecord | undefined, model: string): Thoughts {
  const { messages } = body
  const isBound = bindsThoughts(model) && messages.some((message) => ownThinking(message).length > 0)
  if (!isBound) return { messages, thinking }
  // These models think unasked.
  const told = thinking ?? (forcesTools(body) ? {} : { type: 'adaptive' })
  if (told.type !== 'adaptive') return { messages: messages.map(({ thinking_blocks: _, ...rest }) => rest), thinking }
  return { messages, ...leavingOutUnbound(told) }
}

/** A way to think for which thoughts that do not belong to what was said before them are left out. Only a model that decides
 *  itself how much it thinks, as those do that are told nothing, can be asked. */
export function leavingOutUnbound(thinking: unknown = { type: 'adaptive' }): { readonly thinking: JsonRecord } {
  const told = asRecord(thinking)
  if (told.type !== 'adaptive') return { thinking: told }
  const block_binding = { prefix_mismatch_behavior: 'drop_block', ...asRecord(told.block_binding) }
  return { thinking: { ...told, block_binding } }
}

/** The betas that a way to think is part of. */
export const betasOf = (thinking: unknown): string[] => (isRecord(asRecord(thinking).block_binding) ? [BETA] : [])

/** The headers of a translated request, with the betas of its fields behind the operator's. */
export function withBetas({ headers }: Connection, { thinking }: JsonRecord): Connection['headers'] {
  const betas = betasOf(thinking)
  if (betas.length === 0) return headers
  const own = headers['anthropic-beta']
  return {
    ...headers,
    'anthropic-beta': [isSecret(own) ? reveal(own) : asText(own), ...betas].filter(Boolean).join(','),
  }
}
