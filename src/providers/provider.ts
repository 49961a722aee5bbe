import type { GatewayParams } from '../config/model-list.ts'
import type { GatewayError } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'
import type { Frame } from '../lib/sse.ts'
import type { ModelRequest, ModeName } from '../modes/mode.ts'
import type { Usage } from '../modes/usage.ts'
import type { Transport, UpstreamRequest } from '../transport/transport.ts'

/** Where the calls of one deployment go, and with what; read once from its parameters. */
export interface Connection {
  /** The provider's own name of the model. */
  readonly model: string
  readonly origin: string
  /** Before every path of the API, without a trailing `/`. */
  readonly basePath: string
  readonly headers: Readonly<Record<string, string | Secret>>
}

/** A call as the client made it. */
export interface Outgoing<Request extends ModelRequest = ModelRequest> {
  readonly body: Request
  /** The client's own bytes, which `body` was parsed from. */
  readonly bytes: Uint8Array
  readonly streamed: boolean
}

/** A whole answer in the public shape. */
export interface Reply {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly usage: Usage | undefined
  /** Characters of generated text, for an estimate where `usage` is absent. */
  readonly outputCharacters: number
}

/** What one event of the upstream's stream means. */
export interface StreamStep {
  /** What the client gets for it, in the public shape; nothing when it is ours alone. */
  readonly out?: Uint8Array
  /** Characters of generated content in it. More than 0 commits the stream: no failover behind it. */
  readonly characters?: number
  /** Generated content that has no characters: an empty answer that ends, a tool call that begins. */
  readonly commits?: true
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

/** Reads one stream, event by event, in order. */
export interface StreamReader {
  read(frame: Frame): StreamStep
  /** What properly ends a stream whose answer is complete but whose upstream left out the closing event. */
  closing(): Uint8Array
}

/** How one provider takes one kind of request. Pure: time, retries, aborts and metering belong to the pipeline. */
export interface Adapter<Request extends ModelRequest = ModelRequest> {
  request(call: Outgoing<Request>, connection: Connection): UpstreamRequest | Promise<UpstreamRequest>
  /** Reads a whole 2xx answer; throws `upstream_malformed` for anything that is not one. */
  reply(bytes: Uint8Array, headers: Readonly<Record<string, string>>): Reply
  /** For providers that stream this mode. */
  stream?(call: Outgoing<Request>): StreamReader
  /** Names what an answer outside 2xx means. */
  failure(status: number, headers: Readonly<Record<string, string>>, bytes: Uint8Array): GatewayError
}

export type Adapters = { readonly [Name in ModeName]?: Adapter }

export interface Provider {
  readonly kind: string
  connect(parameters: GatewayParams): Connection
  readonly adapters: Adapters
  /** Only for a provider that answers without a network. */
  readonly transport?: Transport
}
