import type * as z from 'zod'
import type { ModelMode } from '../config/sections/model-list.ts'
import type { JsonRecord } from '../lib/json/lenient.ts'
import type { CapacityUnit } from '../stores/kv/deployment-signals.ts'
import type { Drop } from './field-table.ts'
import type { AskedSurcharge } from './price/surcharges.ts'
import type { Tariff } from './price/tariff.ts'
import type { Usage } from './usage.ts'

export type ModeName = ModelMode

/** A kind of request that some models of a mode serve beside the usual one, with requests of its own. */
export type Operation =
  | 'image_edit'
  | 'image_variation'
  | 'audio_translation'
  | 'text_to_speech'
  | 'speech_to_text'
  | 'cohere_embed'

/** Requests and answers in another vendor's shape, of a kind that is not chat. A provider of that vendor takes them as
 *  they are, as its operation; others by way of the usual requests of the mode. */
export interface Shape {
  /** The usual request. Names the hints that it leaves out, and throws `invalid_request` naming a field that cannot be
   *  expressed. */
  request(request: ModelRequest, drop: Drop): ModelRequest
  /** The answer, from the usual one; absent where answers are bytes of no shape. */
  answer?(usual: JsonRecord, request: ModelRequest): object
}

/** The fields that parsed requests of every mode have in common. */
export interface ModelRequest {
  readonly model: string
  readonly stream?: boolean | null | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined
  readonly [field: string]: unknown
}

/** A kind of request: holds everything that differs between chat, embeddings, images… */
export interface Mode<Request extends ModelRequest = ModelRequest> {
  readonly name: ModeName
  /** Set where these are not the usual requests of models of this mode. */
  readonly operation?: Operation
  readonly shape?: Shape
  /** Loose: unknown fields are passed on. */
  readonly schema: () => z.ZodType<Request>
  /** The form of its request bodies. */
  readonly body: 'json' | 'multipart'
  /** The file of its form: a call is routed when the file has begun to arrive. `whole`: when the form has arrived, because
   *  fields behind the file say what the call may cost. */
  readonly form?: {
    readonly file: string
    readonly whole?: true
    /** The field that names the model, if not `model`. */
    readonly model?: string
  }
  /** A stream of it has no tokens: it may begin with its end, after as long as a whole answer takes. */
  readonly tokenless?: true
  /** The per-minute limit that a call counts against in addition to requests. */
  readonly unit: CapacityUnit
  /** The usage that the request itself determines, for providers that report none. */
  measure(request: Request): Partial<Usage>
  /** The most output tokens of one answer, for modes without a limit in the request; 0 where the answer has no output
   *  tokens. */
  longest?(request: Request, defaults: Readonly<Record<string, unknown>>): number
  /** How many inputs a request has that the model reads one by one, so that each may be as long as its longest; absent
   *  where it reads one. */
  inputs?(request: Request): number
  /** The surcharges that the request asks for. */
  asks?(request: Request): readonly AskedSurcharge[]
  /** Estimates the tokens of a request, at vendors that bill tokens and report none. */
  unreported?(request: Request): { readonly inputTokens: number; readonly outputTokens: number }
  /** Estimates the likely and the largest usage of a file by its bytes, where neither the request nor the provider
   *  tells it. Both are exact for a recording whose own bytes tell its length. */
  ofFile?(bytes: number, seconds?: number): { readonly likely: Partial<Usage>; readonly most: Partial<Usage> }
  /** The request of a health check, without its model; absent where even the smallest would cost noticeably. */
  readonly smallest?: Readonly<Record<string, unknown>>
  /** The ways in which its calls can be billed: the first one that a deployment has prices for applies. */
  readonly tariffs: readonly Tariff[]
}

/** A mode as an element of a list of modes: only its own schema knows its request type. */
export function asMode<Request extends ModelRequest>(mode: Mode<Request>): Mode {
  return mode as Mode
}
