import type { Abort } from '../../lib/abort.ts'
import { type Frame, frameSplitter, readFrame } from '../../lib/bytes/sse.ts'
import { separateTimers } from '../../lib/timers/timers.ts'
import { BodyTooLarge, TransportError, type UpstreamResponse } from '../../transport/transport.ts'
import { failureOf } from './failures.ts'
import { brokenOff, type End, MOST_ANSWER_BYTES, masked, messagesOf, send, typeOf } from './http.ts'
import type { RpcMessage } from './messages.ts'

/** So many events may come before a reply. */
const MOST_EVENTS = 10_000
/** So often is a stream that has ended asked for what is left of it. */
const MOST_RESUMPTIONS = 20
const RETRY_MS = 1000

/** Reads events until the reply. A server may end a stream and have its client come back for the rest, if it has numbered
 *  its events. Returns undefined if there is no reply to come. */
export async function replyAmongEvents(
  end: End,
  first: UpstreamResponse,
  signal: Abort,
  isReply: (message: RpcMessage) => boolean,
): Promise<RpcMessage | undefined> {
  const reading = { end, signal, isReply, bytes: 0, events: 0, lastId: '', retryMs: RETRY_MS }
  let response = first
  for (let resumed = 0; resumed <= MOST_RESUMPTIONS; resumed++) {
    const reply = await readStream(response, reading)
    if (reply || reading.lastId === '') return reply
    await pause(reading.retryMs, signal)
    response = await send(end, 'GET', undefined, signal, { 'last-event-id': reading.lastId })
    if (response.status === 200 && typeOf(response) === 'text/event-stream') continue
    response.body.cancel()
    return undefined
  }
  return undefined
}

interface Reading {
  readonly end: End
  readonly signal: Abort
  readonly isReply: (message: RpcMessage) => boolean
  bytes: number
  events: number
  /** The id of the last event that had one. */
  lastId: string
  /** How long the server wants to be left alone. */
  retryMs: number
}

async function readStream({ body }: UpstreamResponse, reading: Reading): Promise<RpcMessage | undefined> {
  const { end, signal } = reading
  const splitter = frameSplitter(MOST_ANSWER_BYTES)
  try {
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
      reading.bytes += piece.byteLength
      if (reading.bytes > MOST_ANSWER_BYTES) throw new BodyTooLarge('an answer in events is too large')
      for (const frame of splitter.push(piece)) {
        const reply = replyIn(frame, reading)
        if (reply) return reply
      }
    }
    const rest = splitter.rest()
    return rest && replyIn(rest, reading)
  } catch (error) {
    if (error instanceof TransportError && reading.lastId !== '' && !signal.aborted) return undefined
    throw brokenOff(end.server, signal, error, 'broke its answer off')
  } finally {
    body.cancel()
  }
}

function replyIn(frame: Frame, reading: Reading): RpcMessage | undefined {
  const { end, isReply } = reading
  if (++reading.events > MOST_EVENTS) {
    throw failureOf(end.server, 'too_large', `sent more than ${MOST_EVENTS} events`)
  }
  const { event, data } = readFrame(frame)
  notePlace(frame, reading)
  if (!data || (event !== '' && event !== 'message')) return undefined
  return messagesOf(end, masked(end, data)).find(isReply)
}

/** What a header can hold. */
const ID = /^id: ?([\x21-\x7e]{1,512})\r?$/m
const RETRY = /^retry: ?(\d{1,9})\r?$/m

function notePlace({ text }: Frame, reading: Reading): void {
  const id = ID.exec(text)?.[1]
  if (id !== undefined) reading.lastId = id
  const retry = RETRY.exec(text)?.[1]
  if (retry !== undefined) reading.retryMs = Number(retry)
}

/** Resolves after a time; rejects with the reason of the signal when that aborts. */
function pause(ms: number, signal: Abort): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const left = () => {
      separateTimers.stop(timer)
      reject(signal.reason)
    }
    const timer = separateTimers.after(ms, () => {
      signal.removeEventListener('abort', left)
      resolve()
    })
    signal.addEventListener('abort', left, { once: true })
  })
}
