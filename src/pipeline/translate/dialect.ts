import type * as z from 'zod'
import type { GatewayError } from '../../lib/errors.ts'
import type { WrittenMembers } from '../../lib/json/written-json.ts'
import type { AnswerFacts } from '../../modes/answer-facts.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import type { Drop } from '../../modes/field-table.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Capability, Outgoing } from '../../providers/provider.ts'
import type { RenderedMessage } from '../../routing/prompts/template.ts'
import type { IdPlaces } from '../ids/named-ids.ts'
import type { KeptConversation } from '../memory/conversation.ts'
import type { ToolConversation } from '../tools/tool-conversation.ts'
import type { DefaultChanges, DefaultFieldNames } from './default-fields.ts'

/** A wire format for chat, translated to and from the pivot: the public chat shape. Pure functions. */
export interface Dialect<Request extends ModelRequest = ModelRequest> {
  /** The capability of providers that speak this dialect natively. */
  readonly native: Capability | undefined
  readonly schema: () => z.ZodType<Request>
  /** The names of members that hold a program's own data, such as the arguments of a function or their schema, as objects:
   *  integers inside them are not rounded. */
  readonly exactMembers?: ReadonlySet<string>
  /** Where its requests reference objects that a provider created. */
  readonly ids?: IdPlaces
  /** How default fields are named when a provider speaks this dialect natively; as in chat when left out. */
  readonly defaults?: DefaultFieldNames | DefaultChanges
  /** The settings that bound and vary an answer, by their names in chat, where its requests do not have them at the top. */
  settings?(request: ModelRequest): Readonly<Record<string, unknown>>
  /** The changes that lower the limit of such a request, and how its client names the limit. Undefined if the limit is no
   *  larger. */
  capped?(request: ModelRequest, most: number): Capped | undefined
  /** The changes of a request that put the messages of a prompt before its conversation; `own` reads the members of the
   *  request as they are written. */
  readonly prepend: (messages: readonly RenderedMessage[], own: WrittenMembers) => Readonly<Record<string, unknown>>
  /** The same request as chat. Names the hints that it leaves out, and throws `invalid_request` naming a field that chat
   *  cannot express. */
  toChat(request: Request, drop?: Drop): ChatRequest
  /** Its names of fields, by their names in chat; as in chat when left out. A function where it depends on the request which
   *  of two fields became one. */
  readonly names?: ClientNames | ((request: ModelRequest) => ClientNames)
  /** Translates a completion to this dialect's answer. */
  fromChat(completion: ChatCompletion, request: Request, facts?: AnswerFacts): object
  stream(request: Request, call?: Pick<Outgoing, 'facts' | 'likelyInput'>): DialectStream
  /** Follows a native stream whose bytes pass unchanged; absent if another deployment could not continue it. */
  follow?(): DialectFollower
  /** Answers a request that only asks how long it is, where no deployment of its group can. */
  estimate?(tokens: number): object
  /** How its requests refer to answers that the gateway keeps; absent if they cannot. */
  readonly memory?: KeptConversation
  /** How a conversation with managed tools is written; absent if it cannot have any. */
  readonly tools?: ToolConversation
  /** The event that ends a stream which failed after it began. */
  errorEvent(failure: GatewayError): Uint8Array
}

export type ClientNames = Readonly<Record<string, string>>

export interface Capped {
  readonly field: string
  readonly changes: Readonly<Record<string, unknown>>
}

/** Writes the chunks of one answer as events, in order. */
export interface DialectStream {
  /** The end repeats the answer, which is in memory until then. */
  readonly repeats?: true
  write(chunk: ChatChunk): Uint8Array
  /** The events that end a successful stream. */
  close(): Uint8Array
  /** The event that ends a failed stream, if it depends on what was written before. */
  fail?(failure: GatewayError): Uint8Array
}

/** Reads a stream of the dialect's own events, so that another deployment can continue it. */
export interface DialectFollower {
  /** Translates one event to chat chunks. */
  read(event: Uint8Array): ChatChunk[]
  /** A stream that continues from where the events stopped. */
  continuation(): DialectStream
}

/** The vendors' names for the limit of an answer. */
export const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

/** The settings of a request by their names in chat. */
export function settingsOf(dialect: Dialect | undefined, request: ModelRequest): Readonly<Record<string, unknown>> {
  return dialect?.settings?.(request) ?? request
}

/** The client's names of fields, by their names in chat. */
export function namesOf({ names }: Dialect, request: ModelRequest): ClientNames | undefined {
  return typeof names === 'function' ? names(request) : names
}

/** Erases the request type: callers pass requests that the dialect's own schema accepted. */
export function asDialect<Request extends ModelRequest>(dialect: Dialect<Request>): Dialect {
  return dialect as Dialect
}
