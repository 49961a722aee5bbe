import type * as z from 'zod'
import type { ModelMode } from '../config/sections/model-list.ts'
import type { CapacityUnit } from '../stores/kv/deployment-signals.ts'
import type { Asked } from './price/surcharges.ts'
import type { Tariff } from './price/tariff.ts'
import type { Usage } from './usage.ts'

export { MODEL_MODES as MODE_NAMES } from '../config/sections/model-list.ts'
export type ModeName = ModelMode

/** What every kind of request has in common once it is parsed. */
export interface ModelRequest {
  readonly model: string
  readonly stream?: boolean | null | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined
  readonly [field: string]: unknown
}

/** A kind of request: everything that differs between chat, embeddings, images… is asked of this object. */
export interface Mode<Request extends ModelRequest = ModelRequest> {
  readonly name: ModeName
  /** Loose: fields unknown to us travel on. */
  readonly schema: () => z.ZodType<Request>
  /** How its bodies come. */
  readonly body: 'json' | 'multipart'
  /** The per-minute capacity that a call uses beside requests. */
  readonly unit: CapacityUnit
  /** What the request itself tells of its usage, where the provider reports none. */
  measure(request: Request): Partial<Usage>
  /** The most tokens of one answer, where no request has a limit for them; 0 where nothing is written. */
  readonly longest?: number
  /** What the request asks for that is billed beyond its usual price. */
  asks?(request: Request): readonly Asked[]
  /** What a request probably uses at vendors that count its tokens, where they do not tell. */
  unreported?(request: Request): { readonly inputTokens: number; readonly outputTokens: number }
  /** What a file of so many bytes probably uses, and at most, where neither the request nor the provider tells. Of a
   *  recording that itself tells how long it is, exactly that. */
  ofFile?(bytes: number, seconds?: number): { readonly likely: Partial<Usage>; readonly most: Partial<Usage> }
  /** The smallest request of this kind, without its model, which shows whether a deployment works; absent where even that
   *  would cost noticeably. */
  readonly smallest?: Readonly<Record<string, unknown>>
  /** How its calls are billed: the first way for which a deployment has the prices. */
  readonly tariffs: readonly Tariff[]
}

/** A mode among modes: only its own schema knows its request type. */
export function asMode<Request extends ModelRequest>(mode: Mode<Request>): Mode {
  return mode as unknown as Mode
}
