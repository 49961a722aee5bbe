import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { AnswerFacts } from '../../modes/answer-facts.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { StoredValue } from '../../stores/kv/stored-value.ts'
import type { CallInput } from '../call-input.ts'
import type { KnownIds } from '../ids/known-ids.ts'
import type { Parsed, Refusal } from '../request/checked.ts'
import type { Written } from '../request/written-request.ts'
import type { PipelineServices } from '../services.ts'
import { type KeptConversation, NOTHING_RECALLED, type Recalled } from './conversation.ts'
import { recall } from './recall.ts'

/** The use that one call makes of the gateway's memory of answers. */
export interface CallMemory {
  readonly facts: AnswerFacts
  readonly conversation: KeptConversation
  /** The request as its client sent it, and what it refers to. */
  readonly request: ModelRequest
  readonly recalled: Recalled
  /** The answer, once it has ended well. */
  answer: JsonRecord | undefined
  /** The values that the settlement stores. */
  value: readonly StoredValue[] | undefined
}

/** A request with the conversation that it continues, or why it cannot have it. */
export interface Remembering {
  readonly parsed: (Written & { readonly error?: never }) | Refusal
  /** The ids that remain for providers. */
  readonly ids: KnownIds | undefined
  /** undefined where the dialect has no memory. */
  readonly memory?: CallMemory | undefined
}

/** Puts what the gateway keeps into a request that names it, and says what will be kept of the answer. */
export function withMemory(
  services: PipelineServices,
  input: CallInput,
  parsed: Parsed,
  ids: KnownIds | undefined,
): Remembering | Promise<Remembering> {
  if (parsed.error) return { parsed, ids }
  const { request } = parsed
  const written: Written = { request, bytes: input.bytes }
  if (!input.endpoint.dialect?.memory) return { parsed: written, ids }
  const recalling = recall(services, input, request, ids)
  if (!recalling) return { parsed: written, ids, memory: callMemory(services, input, request) }
  return recalling.then((joined) => {
    if (joined.error) return { parsed: joined, ids }
    const memory = callMemory(services, { ...input, bytes: joined.bytes }, request, joined.recalled)
    return { parsed: joined, ids: joined.ids, memory }
  })
}

function callMemory(
  { responses, config }: PipelineServices,
  { endpoint, caller, bytes, batch, noLog }: CallInput,
  request: ModelRequest,
  recalled: Recalled = NOTHING_RECALLED,
): CallMemory | undefined {
  const conversation = endpoint.dialect?.memory
  if (!conversation) return undefined
  const hidden =
    config.gateway_settings.turn_off_message_logging || caller.contentOff || (noLog && !caller.noLogIgnored)
  const kept =
    request.store !== false &&
    responses.retentionSeconds !== undefined &&
    bytes.byteLength <= responses.mostCharacters &&
    !hidden &&
    !batch
  const facts = { id: conversation.newId(), previousId: recalled.previousId ?? null, kept }
  return { facts, conversation, request, recalled, answer: undefined, value: undefined }
}
