import type { RegisteredProvider } from '../config/registered.ts'
import type { GatewayParams } from '../config/sections/model-list.ts'
import type { GatewayError } from '../lib/errors.ts'
import { entryOf, type JsonRecord } from '../lib/json/lenient.ts'
import type { Secret } from '../lib/secret.ts'
import type { AnswerFacts } from '../modes/answer-facts.ts'
import type { ChatChunk, ChatCompletion } from '../modes/chat-completion.ts'
import type { Drop } from '../modes/field-table.ts'
import type { RequestForm } from '../modes/form.ts'
import type { ModelRequest, ModeName, Operation } from '../modes/mode.ts'
import type { Usage } from '../modes/usage.ts'
import type { Transport, UpstreamRequest } from '../transport/transport.ts'
import type { MadeId } from './wire/made-ids.ts'

/** The address and headers for the calls of one deployment, read once from its parameters. */
export interface Connection {
  /** The provider's own name of the model. */
  readonly model: string
  /** The vendor's name of the model, which decides what it takes: `model`, unless the operator gave another. */
  readonly baseModel: string
  readonly origin: string
  /** The prefix of every path of the API, without a trailing `/`. */
  readonly basePath: string
  readonly headers: Readonly<Record<string, string | Secret>>
  /** All parameters of the deployment, for providers that need more of them. */
  readonly parameters: GatewayParams
  /** `model_info.default_params`: the values of fields that a request leaves out. */
  readonly defaults: Readonly<Record<string, unknown>>
}

/** A call on its way out, as an adapter is given it: the request of the client, with what the deployment adds. */
export interface Outgoing<Request extends ModelRequest = ModelRequest> {
  readonly body: Request
  /** The bytes that `body` was parsed from; after a translation, the bytes of the translated body. */
  readonly bytes: Uint8Array
  /** Present if the request is a form; `bytes` is empty then. */
  readonly form?: RequestForm<Request> | undefined
  readonly streamed: boolean
  /** The body was translated to chat from another dialect. */
  readonly translated?: true
  /** Defaults as chat fields, for a body of another dialect that is translated by way of chat. */
  readonly chatDefaults?: Readonly<Record<string, unknown>>
  /** The client's headers that its endpoint forwards, in lower case. */
  readonly clientHeaders?: Readonly<Record<string, string>>
  /** Takes the names of hints that are left out. */
  readonly notes?: Notes | undefined
  /** What is decided of the answer, where the gateway writes it for a dialect with memory. */
  readonly facts?: AnswerFacts | undefined
  /** The probable tokens of the request, for a dialect that names them before its provider does. */
  readonly likelyInput?: () => number
  /** The client's names of fields, by their names in chat; only where they differ. */
  readonly clientNames?: Readonly<Record<string, string>>
  /** The client asks for reasoning in words of OpenRouter's, which the vendor does not know. */
  readonly readsDetails?: true
}

/** The hints that a translation has left out. */
export interface Notes {
  dropped: Set<string> | undefined
}

/** Notes the fields of a call that are left out, by the client's names of them. */
export function dropper({ notes, clientNames = {} }: Pick<Outgoing, 'notes' | 'clientNames'>): Drop {
  return (field) => {
    if (!notes) return
    notes.dropped ??= new Set()
    notes.dropped.add(entryOf(clientNames, field) ?? field)
  }
}

/** A whole answer: bytes for the client as they are or, from a vendor of another shape, a chat completion that the
 *  client's dialect writes. */
export type Reply = {
  readonly usage: Usage | undefined
  /** The objects that the provider created for the answer and keeps. */
  readonly made?: readonly MadeId[]
  /** Characters of generated text, for an estimate if `usage` is absent. */
  readonly outputCharacters: number
} & (
  | { readonly bytes: Uint8Array; readonly contentType: string; readonly completion?: never }
  | { readonly completion: ChatCompletion; readonly bytes?: never }
)

/** The meaning of one event of the upstream's stream. */
export interface StreamStep {
  /** Bytes for the client as they are, if both sides have the same shape. */
  readonly out?: Uint8Array
  /** A chunk that the client's dialect writes, from a vendor of another shape. The last chunk of a stream has the usage
   *  and no choices. */
  readonly chunk?: ChatChunk
  /** Characters of generated content. More than 0 commits the stream. */
  readonly characters?: number
  /** The event commits the stream without characters: the end of an empty answer, the begin of a tool call. */
  readonly commits?: true
  /** The objects that the provider created and keeps, as far as this event names them. */
  readonly made?: readonly MadeId[]
  /** The newest known usage of the whole answer so far. */
  readonly usage?: Usage
  /** The answer is complete: the upstream gave its finish reason. */
  readonly finished?: true
  /** Nothing follows. */
  readonly done?: true
  /** The event could not be read; it is dropped and counted. */
  readonly malformed?: true
  /** The failure that the upstream reports. */
  readonly failure?: GatewayError
}

/** Reads one stream in order. */
export interface StreamReader {
  /** Reads the next bytes. Pieces may end anywhere; an incomplete event waits for the next piece. */
  push(piece: Uint8Array): StreamStep[]
  /** The closing event for a complete stream of `out` bytes whose upstream left it out. */
  closing?(): Uint8Array
  /** The error event for a stream of `out` bytes that failed after it began, if it depends on earlier events. */
  failing?(failure: GatewayError): Uint8Array
}

/** The same request in another way. */
export type Rewrite = (request: UpstreamRequest) => UpstreamRequest

/** The names of functions and the ids of calls that a vendor accepts. */
export interface Takes {
  readonly functions?: RegExp
  /** An id that does not fit is replaced by one of `length` digits. */
  readonly calls?: { readonly fits: RegExp; readonly length: number }
}

/** The translation between one kind of request and one provider's API. Pure: time, retries, aborts and metering belong
 *  to the pipeline. */
export interface Adapter<Request extends ModelRequest = ModelRequest> {
  request(call: Outgoing<Request>, connection: Connection): UpstreamRequest | Promise<UpstreamRequest>
  /** Reads a whole 2xx answer; throws `upstream_malformed` for anything that is not one. */
  reply(bytes: Uint8Array, headers: Readonly<Record<string, string>>, call: Outgoing<Request>): Reply
  /** The hints of an endpoint (`Endpoint.hints`) that it tells its vendor. */
  readonly knows?: ReadonlySet<string>
  /** Of chat: which names and ids it accepts; others are replaced. */
  readonly takes?: Takes
  /** The limit of output tokens that it sets for a chat request that has none but asks for so many tokens of thought. */
  readonly setsLimit?: (model: string, thoughts: number) => number
  /** Present if the provider streams this mode. */
  stream?(call: Outgoing<Request>, headers: Readonly<Record<string, string>>): StreamReader
  /** The stream events of a whole answer, for vendors that answer a streamed request in one piece. Chat needs none. */
  events?(reply: JsonRecord): JsonRecord[]
  /** The media type of its streams; server-sent events if absent. */
  readonly streamType?: RegExp
  /** Answers, such as audio, are relayed unparsed: `reply` is not called, and the usage is computed from the request.
   *  With `stream`, answers that are events are read as such. */
  readonly unparsed?: true
  /** Names the failure that an answer outside 2xx reports. `now` is for headers with a time. */
  failure(status: number, headers: Readonly<Record<string, string>>, bytes: Uint8Array, now: number): GatewayError
  /** How to ask once more after a refusal of what only another provider can read, or of what the model turns out not to
   *  take or do; undefined after any other refusal. */
  again?(failure: GatewayError, call: Outgoing<Request>): Rewrite | undefined
  /** Names the part of a call that was refused, if the model refuses it in every call; undefined if this call does not
   *  have it, or has it in its conversation. */
  refused?(failure: GatewayError, call: Outgoing<Request>): string | undefined
}

/** What an adapter serves: a kind of request in its public shape, or another dialect of chat that the vendor serves
 *  natively. Other dialects are translated to chat. */
export type Capability =
  | ModeName
  | Operation
  | 'messages'
  | 'count_tokens'
  | 'responses'
  | 'generate_content'
  | 'gemini_count_tokens'
  | 'cohere_chat'

export type Adapters = { readonly [Name in Capability]?: Adapter }

/** What `authorize` may use. */
export interface Authorizing {
  readonly transport: Transport
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  readonly now: number
}

/** How a provider is presented to people who add a deployment of it. */
export interface Profile {
  readonly label: string
  /** Its usual address, with `{parameter}` in the places of parameters; absent if only the operator knows it. */
  readonly address?: string
  /** The sets of parameters that each suffice as credentials; none if its calls need no credential. */
  readonly credentials: readonly (readonly ParameterName[])[]
  /** The further parameters that it reads, beside those that every provider reads. */
  readonly parameters?: Readonly<Partial<Record<ParameterName, ParameterUse>>>
}

export type ParameterName = keyof GatewayParams

interface ParameterUse {
  readonly required?: true
  /** Its meaning for this provider, where that is more exact than the sentence of the configuration. */
  readonly meaning?: string
  /** The value of one that is left out. */
  readonly default?: string
}

/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string
  /** Its name for people, if the provider has one. */
  readonly name?: string | undefined
  /** The kind of requests that it takes, if the provider tells. */
  readonly mode?: ModeName | undefined
}

/** A free request for a part of a provider's list of models, and how its answer is read. */
export interface Listing {
  request(connection: Connection): UpstreamRequest
  /** `body` is JSON from outside. */
  read(body: unknown): readonly ListedModel[]
}

export interface Provider extends RegisteredProvider {
  readonly kind: string
  readonly profile: Profile
  /** The requests that together list its models; a sentence that says why there are none, for people. */
  listings(connection: Connection): readonly Listing[] | string
  connect(parameters: GatewayParams, defaults: Readonly<Record<string, unknown>>): Connection
  readonly adapters: Adapters
  /** Top-level fields of a request that lead to other models, hosts or credentials than the deployment's. */
  readonly routingFields?: ReadonlySet<string>
  /** Words of vendors in chat beside OpenAI's (`VENDOR_WORDS`) that it is told as they are; none if absent. */
  readonly words?: ReadonlySet<string>
  /** The adapters of one connection, if they depend on its model or version. */
  adaptersOf?(connection: Connection): Adapters
  /** Signs or authorises a final request, for providers without a constant credential header: SigV4, a minted token. */
  authorize?(request: UpstreamRequest, connection: Connection, means: Authorizing): Promise<UpstreamRequest>
  /** It writes prompts to its cache unasked, at the price of a write. */
  readonly writesCache?: true
  /** A free request that is answered with 2xx if the address and the credential of a connection are valid. Absent if
   *  the vendor has none. */
  healthRequest?(connection: Connection): UpstreamRequest
  /** Only for a provider that answers without a network. */
  readonly transport?: Transport
}

/** Widens the type of an adapter. Safe, because the schema of its mode has checked the body. */
export function adapterFor<Request extends ModelRequest>(adapter: Adapter<Request>): Adapter {
  return adapter as Adapter
}
