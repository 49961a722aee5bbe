import type { Abort } from '../../lib/abort.ts'
import type { CallContent } from '../content/recording.ts'
import type { CallFinished, CallTrace } from '../events.ts'
import { NOTICES, type Notice } from '../notices.ts'

/** The events that a sink may take. */
export type SinkEvent = CallFinished | Notice

/** For sinks of calls alone. */
export const CALLS_ALONE: ReadonlySet<SinkEvent['type']> = new Set(['call.finished'])

/** For sinks of notices, too. */
export const EVERYTHING: ReadonlySet<SinkEvent['type']> = new Set([...CALLS_ALONE, ...NOTICES])

/** An event on its way to a sink. It may have been JSON meanwhile, perhaps of an older build. */
export interface SinkEntry {
  /** The same in every delivery, for far ends that recognize duplicates. */
  readonly id: string
  readonly event: SinkEvent
  /** The content of a call, for sinks that take it, as far as it may be logged. */
  readonly content?: CallContent | undefined
}

/** How entries are gathered: a batch is sent when it reaches a number or a size, else after a time. */
export interface Gathering {
  readonly entries: number
  readonly bytes: number
  readonly ms: number
}

/** The outcome of a delivery that the far end answered. */
export interface Delivered {
  /** The far end's answer in words, without any part of the entries. */
  readonly answer: string
  /** The entries that have to be sent again. */
  readonly again?: readonly SinkEntry[]
  /** How long the far end asks to wait before that. */
  readonly retryAfterSeconds?: number | undefined
  /** The number of entries that the far end refused for good. */
  readonly refused?: number
}

/** A call that a sink got. */
export interface ToldCall {
  readonly callId: string
  /** When it ended, in ISO 8601. */
  readonly at: string
  /** The trace that its client named. */
  readonly traceId: string | undefined
}

/** Delivers events to a far end. It keeps none: its lane gathers, retries and bounds them. */
export interface Sink {
  readonly name: string
  readonly gathering: Gathering
  /** It takes the content of calls. */
  readonly takesContent: boolean
  /** How long its far end may take to answer; default: 10 seconds. */
  readonly answerMs?: number
  /** A failed batch is sent again unchanged, so that the far end recognizes it. */
  readonly resendsWhole?: boolean
  /** The events that it takes. */
  readonly takes: ReadonlySet<SinkEvent['type']>
  /** Whether it leaves out this call, although it takes calls. */
  leavesOut?(call: CallFinished): boolean
  /** The W3C `traceparent` by which an upstream continues the trace of an attempt, if the sink writes traces. */
  traceparent?(callId: string, trace: CallTrace | undefined, attempt: number): string
  /** The address at which people find a call, if the sink knows it. */
  placeOf?(call: ToldCall): string | undefined
  /** Sends entries. Throws a SinkFailure if the far end took none of them; any other error counts as `away`. */
  deliver(entries: readonly SinkEntry[], abort: Abort): Promise<Delivered>
}

/** Why a far end took nothing. `away`: it may later. `too_large`: it may take fewer at once. `refused`: it never takes
 *  one of the entries. */
export type SinkFailureKind = 'away' | 'too_large' | 'refused'

/** The message holds no part of an entry and no credential. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure'
  readonly kind: SinkFailureKind
  readonly retryAfterSeconds: number | undefined

  constructor(kind: SinkFailureKind, message: string, retryAfterSeconds?: number) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The counts of a sink in this process. Times are ISO 8601. */
export interface SinkState {
  readonly name: string
  readonly queued: number
  readonly delivered: number
  readonly failures: number
  readonly dropped: number
  readonly lastSuccessAt: string | undefined
  readonly lastErrorAt: string | undefined
  readonly lastError: string | undefined
}

/** The way to one sink. Handing an entry over never waits, never throws and starts no work of its own beyond a timer. */
export interface SinkLane {
  take(entry: SinkEntry): void
  /** Whether it takes entries now instead of dropping them. */
  hasRoom(): boolean
  /** The number of entries that wait here. */
  depth(): number
  /** Sends what waits, for `limitMs` at most, and drops the rest. A far end that fails meanwhile is not waited for.
   *  Resolves with the number of dropped entries. */
  drain(limitMs: number): Promise<number>
}
