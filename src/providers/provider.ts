import type { RegisteredProvider } from '../config/registered.ts'
import type { GatewayParams } from '../config/sections/model-list.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { JsonRecord } from '../lib/json/lenient.ts'
import type { Secret } from '../lib/secret.ts'
import type { ChatChunk, ChatCompletion } from '../modes/chat-completion.ts'
import type { RequestForm } from '../modes/form.ts'
import type { ModelRequest, ModeName } from '../modes/mode.ts'
import type { Usage } from '../modes/usage.ts'
import type { Transport, UpstreamRequest } from '../transport/transport.ts'
import type { MadeId } from './wire/made-ids.ts'

/** Where the calls of one deployment go, and with what; read once from its parameters. */
export interface Connection {
  /** The provider's own name of the model. */
  readonly model: string
  readonly origin: string
  /** Before every path of the API, without a trailing `/`. */
  readonly basePath: string
  readonly headers: Readonly<Record<string, string | Secret>>
  /** Everything else that the operator said, for providers that need more. */
  readonly parameters: GatewayParams
  /** `model_info.default_params`: what a request that leaves a field out means here. */
  readonly defaults: Readonly<Record<string, unknown>>
}

/** A call as the client made it. */
export interface Outgoing<Request extends ModelRequest = ModelRequest> {
  readonly body: Request
  /** The client's own bytes, which `body` was parsed from. Of another dialect than the adapter's: that of the body. */
  readonly bytes: Uint8Array
  readonly contentType: string
  /** Where the request is a form. `bytes` is empty then. */
  readonly form?: RequestForm<Request> | undefined
  readonly streamed: boolean
  /** It was put into chat's words from another dialect's. */
  readonly translated?: true
  /** Defaults in chat's words that are not in `body`, because it is of another dialect and goes by way of chat. */
  readonly chatDefaults?: Readonly<Record<string, unknown>>
  /** Headers of the client that a provider may want to see: those that its endpoint lets through, in lower case. */
  readonly clientHeaders?: Readonly<Record<string, string>>
}

/** A whole answer: the bytes that go to the client as they are, or, from a vendor of another shape, a chat completion
 *  that the client's dialect puts into words. */
export type Reply = {
  readonly usage: Usage | undefined
  /** What its provider keeps of it. */
  readonly made?: readonly MadeId[]
  /** Characters of generated text, for an estimate where `usage` is absent. */
  readonly outputCharacters: number
} & (
  | { readonly bytes: Uint8Array; readonly contentType: string; readonly completion?: never }
  | { readonly completion: ChatCompletion; readonly bytes?: never }
)

/** What one event of the upstream's stream means. */
export interface StreamStep {
  /** Bytes for the client as they are: where both sides speak the same shape. */
  readonly out?: Uint8Array
  /** A chunk that the client's dialect puts into words: from a vendor of another shape. The last one of a stream has no
   *  choices and the usage. */
  readonly chunk?: ChatChunk
  /** Characters of generated content in it. More than 0 commits the stream: no failover behind it. */
  readonly characters?: number
  /** Generated content that has no characters: an empty answer that ends, a tool call that begins. */
  readonly commits?: true
  /** What its provider keeps of the answer, as far as this event tells. */
  readonly made?: readonly MadeId[]
  /** The newest known usage of the whole answer so far. */
  readonly usage?: Usage
  /** The answer is complete: the upstream gave its finish reason. */
  readonly finished?: true
  /** Nothing follows. */
  readonly done?: true
  /** The event could not be read; it is left out and counted. */
  readonly malformed?: true
  /** The upstream says that it failed. */
  readonly failure?: GatewayError
}

/** Reads one stream in order. */
export interface StreamReader {
  /** What the next bytes mean. They are cut anywhere; what is incomplete waits for the next. */
  push(piece: Uint8Array): StreamStep[]
  /** What properly ends a stream of `out` bytes whose answer is complete but whose upstream left out the closing event. */
  closing?(): Uint8Array
  /** What ends a stream of `out` bytes that failed after it began, where that depends on what was said before. */
  failing?(failure: GatewayError): Uint8Array
}

/** How one provider takes one kind of request. Pure: time, retries, aborts and metering belong to the pipeline. */
export interface Adapter<Request extends ModelRequest = ModelRequest> {
  request(call: Outgoing<Request>, connection: Connection): UpstreamRequest | Promise<UpstreamRequest>
  /** Reads a whole 2xx answer; throws `upstream_malformed` for anything that is not one. */
  reply(bytes: Uint8Array, headers: Readonly<Record<string, string>>, call: Outgoing<Request>): Reply
  /** The limit of output tokens that it sets where a chat request has none, thoughts aside. */
  readonly setsLimit?: number
  /** For providers that stream this mode. */
  stream?(call: Outgoing<Request>, headers: Readonly<Record<string, string>>): StreamReader
  /** The events that a whole answer would have come in, for vendors that answer a stream in one; of chat that is known. */
  events?(reply: JsonRecord): JsonRecord[]
  /** The media type that a stream of this adapter has; server-sent events when left out. */
  readonly streamType?: RegExp
  /** A whole answer goes to the client as it comes, unread: audio. `reply` is not called; what is known of its usage
   *  is what the request says. */
  readonly passes?: true
  /** Names what an answer outside 2xx means. `now` is for headers that name a time. */
  failure(status: number, headers: Readonly<Record<string, string>>, bytes: Uint8Array, now: number): GatewayError
}

/** What an adapter can be asked for: a kind of request in its public shape, or another dialect of chat that the vendor
 *  speaks natively. Chat takes every dialect by translation. */
export type Capability = ModeName | 'messages' | 'count_tokens' | 'responses'

export type Adapters = { readonly [Name in Capability]?: Adapter }

/** What a step that needs the network may use. */
export interface Authorizing {
  readonly transport: Transport
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Provider extends RegisteredProvider {
  readonly kind: string
  connect(parameters: GatewayParams, defaults: Readonly<Record<string, unknown>>): Connection
  readonly adapters: Adapters
  /** Top-level fields of a request that lead to other models, hosts or credentials than the deployment's. */
  readonly routingFields?: readonly string[]
  /** Those of one connection, where the model or the version behind it decides what is spoken there. */
  adaptersOf?(connection: Connection): Adapters
  /** Signs or authorises a final request, where a constant header is not enough: SigV4, a minted token. */
  authorize?(request: UpstreamRequest, connection: Connection, means: Authorizing): Promise<UpstreamRequest>
  /** A request that costs nothing, and that is answered with 2xx where the address and the credential of a connection are
   *  good. Absent where the vendor has none. */
  look?(connection: Connection): UpstreamRequest
  /** Only for a provider that answers without a network. */
  readonly transport?: Transport
}

/** An adapter of one kind of request among those of every kind: the schema of its mode has checked the body. */
export function adapterFor<Request extends ModelRequest>(adapter: Adapter<Request>): Adapter {
  return adapter as unknown as Adapter
}
