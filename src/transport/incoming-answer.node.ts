import type { Abort } from '../lib/abort.ts'
import { gathering } from '../lib/forms/gathering.node.ts'
import { afterReads } from '../lib/timers/after-reads.node.ts'
import { decoded } from './decoded-body.node.ts'
import { BodyTooLarge, TransportError, type UpstreamBody, type UpstreamResponse } from './transport.ts'

/** How much may come that nobody waits for: most answers come whole before they are read. */
const PENDING_LIMIT_BYTES = 16_384

/** The connection that brings an answer. */
export interface AnswerSource {
  pause(): void
  resume(): void
  /** Ends the connection. */
  abort(reason: Error): void
}

/** An answer between the connection that brings it and its reader: the connection tells it what comes. After an abort it
 *  ends the connection, and takes nothing more. */
export interface IncomingAnswer {
  /** Set as soon as the request has a connection. */
  source: AnswerSource | undefined
  /** Whether nothing more is expected: it is whole, has failed, or was aborted. */
  readonly over: boolean
  head(status: number, headers: Record<string, string>): void
  data(piece: Uint8Array): void
  end(): void
  fail(error: unknown): void
}

interface State extends IncomingAnswer, UpstreamBody {
  readonly signal: Abort
  readonly resolve: (response: UpstreamResponse) => void
  readonly reject: (error: unknown) => void
  left: () => void
  /** NaN if it is not known. */
  declared: number
  pending: Uint8Array[]
  pendingBytes: number
  paused: boolean
  /** Whether its head was told. */
  begun: boolean
  over: boolean
  failure: unknown
  /** Receives pieces instead of `pending` while `bytes` reads the whole body. */
  sink: ((piece: Uint8Array) => void) | undefined
  wake: (() => void) | undefined
}

/** Waits for the answer of one request: `resolve` gets its head, `reject` what keeps it from coming. */
export function incomingAnswer(
  signal: Abort,
  resolve: (response: UpstreamResponse) => void,
  reject: (error: unknown) => void,
): IncomingAnswer {
  // The functions are shared by all answers, so that one costs a single object.
  const answer: State = {
    signal,
    resolve,
    reject,
    left: nothing,
    source: undefined,
    declared: Number.NaN,
    pending: [],
    pendingBytes: 0,
    paused: false,
    begun: false,
    over: false,
    failure: undefined,
    sink: undefined,
    wake: undefined,
    head,
    data,
    end,
    fail,
    read,
    bytes,
    cancel,
  }
  answer.left = () => leave(answer)
  signal.addEventListener('abort', answer.left, { once: true })
  return answer
}

function nothing(): void {}

function leave(answer: State): void {
  const { reason } = answer.signal
  const error = reason instanceof Error ? reason : new TransportError('the call was ended')
  answer.source?.abort(error)
  answer.fail(error)
}

function head(this: State, status: number, headers: Record<string, string>): void {
  this.declared = Number(headers['content-length'])
  this.begun = true
  const response = decoded({ status, headers, body: this }, this.signal)
  afterReads(() => this.resolve(response))
}

function data(this: State, piece: Uint8Array): void {
  if (this.over) return
  if (this.sink) {
    this.sink(piece)
    return
  }
  // An array of one takes less memory than one that something was pushed into.
  if (this.pendingBytes === 0) this.pending = [piece]
  else this.pending.push(piece)
  this.pendingBytes += piece.byteLength
  if (!this.wake && this.pendingBytes > PENDING_LIMIT_BYTES && !this.paused) {
    this.paused = true
    this.source?.pause()
  }
  awake(this)
}

function end(this: State): void {
  this.signal.removeEventListener('abort', this.left)
  this.over = true
  awake(this)
}

function fail(this: State, error: unknown): void {
  this.signal.removeEventListener('abort', this.left)
  if (this.over) return
  this.over = true
  this.failure = error
  awake(this)
  if (!this.begun) this.reject(error)
}

function awake(answer: State): void {
  const { wake } = answer
  answer.wake = undefined
  wake?.()
}

function more(answer: State): Promise<void> {
  return new Promise((resolve) => {
    answer.wake = resolve
  })
}

function clearPending(answer: State): void {
  answer.pending = []
  answer.pendingBytes = 0
  if (!answer.paused) return
  answer.paused = false
  answer.source?.resume()
}

async function read(this: State): Promise<Uint8Array | undefined> {
  if (this.pendingBytes === 0 && !this.over) await more(this)
  if (this.pendingBytes === 0) {
    if (this.failure !== undefined) throw this.failure
    return undefined
  }
  // Joining short pieces uses memory of Buffer's pool.
  const [piece] = this.pending.length === 1 ? this.pending : [Buffer.concat(this.pending)]
  clearPending(this)
  return piece
}

function bytes(this: State, limitBytes: number, arrived?: (bytes: number) => void): Promise<Uint8Array> {
  // Most answers came whole in one piece.
  const isHere = this.over && this.failure === undefined && this.pending.length === 1
  return isHere ? onlyPiece(this, limitBytes, arrived) : gathered(this, limitBytes, arrived)
}

async function onlyPiece(
  answer: State,
  limitBytes: number,
  arrived: ((bytes: number) => void) | undefined,
): Promise<Uint8Array> {
  const [piece] = answer.pending as [Uint8Array]
  clearPending(answer)
  if (piece.byteLength > limitBytes) throw tooLarge(limitBytes)
  arrived?.(piece.byteLength)
  return piece
}

async function gathered(
  answer: State,
  limitBytes: number,
  arrived: ((bytes: number) => void) | undefined,
): Promise<Uint8Array> {
  const whole = gathering(answer.declared)
  let length = 0
  let refused: { readonly error: unknown } | undefined
  const giveUp = () => {
    answer.cancel()
    whole.discard()
  }
  answer.sink = (piece) => {
    length += piece.byteLength
    if (length > limitBytes) return giveUp()
    try {
      arrived?.(piece.byteLength)
    } catch (error) {
      refused ??= { error }
      return giveUp()
    }
    whole.push(piece)
  }
  for (const piece of answer.pending) answer.sink(piece)
  clearPending(answer)
  while (!answer.over) await more(answer)
  if (length > limitBytes) throw tooLarge(limitBytes)
  if (refused) throw refused.error
  if (answer.failure !== undefined) throw answer.failure
  return whole.bytes()
}

function cancel(this: State): void {
  if (this.over) return
  this.pending = []
  this.pendingBytes = 0
  const reason = new TransportError('the call was ended')
  this.fail(reason)
  this.source?.abort(reason)
}

function tooLarge(limitBytes: number): BodyTooLarge {
  return new BodyTooLarge(`the upstream's answer is larger than ${limitBytes} bytes`)
}
