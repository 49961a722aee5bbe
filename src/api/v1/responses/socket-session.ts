import { frameSplitter, readFrame } from '../../../lib/bytes/sse.ts'
import { asGatewayError, GatewayError } from '../../../lib/errors.ts'
import type { Footprint } from '../../../lib/footprints.ts'
import { exactRecord } from '../../../lib/json/exact-json.ts'
import { boundJson, REQUEST_BOUNDS } from '../../../lib/json/json-bounds.ts'
import { asRecord, asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import { NOTHING_RECALLED, type Recalled } from '../../../pipeline/memory/conversation.ts'
import { responsesMemory } from '../../dialects/responses/memory.ts'
import { errorBody } from '../../failures.ts'

/** What a connection asks of its runtime. */
export interface SessionPort {
  /** Runs one request as a call of its own. */
  ask(body: Uint8Array): Promise<{ readonly status: number; readonly body: Uint8Array | ReadableStream<Uint8Array> }>
  /** Resolves when the client can accept more. */
  send(text: string): Promise<void>
  /** Counts the memory of what the connection holds beside its turn. Throws for more than a body may have, and where there
   *  is no memory for it. */
  hold(bytes: number): Footprint
}

/** The last answer of a connection that no store keeps (`store: false`). */
interface Last {
  readonly id: string
  readonly history: readonly JsonRecord[]
  readonly footprint: Footprint
}

/** The messages that wait for the turn before them. Each may be as long as a body may be. */
const MOST_WAITING = 4

const encoder = new TextEncoder()

/** Responses over a WebSocket: each `response.create` is a call of its own, answered by the events of a stream, one
 *  after the other. The connection remembers its last answer that was not kept (`store: false`), until a turn that
 *  continues it fails. */
export function responsesSession({ ask, send, hold }: SessionPort) {
  let last: Last | undefined
  let waiting = 0
  let isClosed = false
  let turns = Promise.resolve()

  function forget(): void {
    last?.footprint.release()
    last = undefined
  }

  /** Remembers an answer, unless nobody can continue it, or there is no memory for it. */
  function remember(id: string, history: readonly JsonRecord[], bytes: number): void {
    forget()
    if (isClosed) return
    try {
      last = { id, history, footprint: hold(bytes) }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
    }
  }

  async function turn(text: string): Promise<void> {
    boundJson(encoder.encode(text), REQUEST_BOUNDS)
    const message = exactRecord(text)
    const { type, stream: _stream, background: _background, generate, ...request } = message ?? {}
    if (type !== 'response.create') {
      throw new GatewayError('invalid_request', "A message must be an object of type 'response.create'.", {
        param: 'type',
        code: 'invalid_message',
      })
    }
    const previous = asText(request.previous_response_id)
    const continued = last?.id === previous ? last : undefined
    try {
      const recalled: Recalled = continued ? { ...NOTHING_RECALLED, history: continued.history } : NOTHING_RECALLED
      const body = { ...request, model: asText(request.model) } as ModelRequest
      const joined = continued ? { ...body, ...responsesMemory.joined(body, recalled) } : body
      const sent = encoder.encode(JSON.stringify({ ...joined, stream: true }))
      // Nothing but what is remembered bounds input that asks for no answer.
      if (generate === false) hold(sent.byteLength).release()
      const ended =
        generate === false ? await warmUp(body.model, previous) : await relay(sent, continued ? previous : undefined)
      if (ended?.store === false) {
        const own = responsesMemory.inputOf(body, asText(ended.id), recalled)
        const history = [...recalled.history, ...own, ...responsesMemory.outputOf(ended)]
        remember(asText(ended.id), history, sent.byteLength)
      } else if (!ended && continued) forget()
    } catch (error) {
      if (continued) forget()
      throw error
    }
  }

  /** Sends the events of a call. Resolves with its response if that ended well. */
  async function relay(request: Uint8Array, previous: string | undefined): Promise<JsonRecord | undefined> {
    const { status, body } = await ask(request)
    if (body instanceof Uint8Array) {
      await send(envelope(status, asRecord(parseRecord(body)?.error)))
      return undefined
    }
    const splitter = frameSplitter()
    const reader = body.getReader()
    let ended: JsonRecord | undefined
    let isOver = false
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      for (const frame of splitter.push(value)) {
        const { data } = readFrame(frame)
        // The end of a turn is one event here, and `[DONE]` is none.
        if (data === undefined || data === '[DONE]' || isOver) continue
        const event = asRecord(exactRecord(data))
        isOver = event.type === 'error' || TERMINAL.has(event.type)
        const response = asRecord(event.response)
        if (event.type === 'response.completed' || event.type === 'response.incomplete') ended = response
        if (event.type === 'error') await send(envelope(500, { ...event, ...asRecord(event.error) }))
        else if (previous === undefined || event.response === undefined) await send(data)
        else await send(JSON.stringify({ ...event, response: { ...response, previous_response_id: previous } }))
      }
    }
    if (!isOver) await send(envelope(502, { code: 'upstream_truncated', message: 'The answer broke off.' }))
    return ended
  }

  /** A client that sends input without asking for an answer gets an empty response to continue from. */
  async function warmUp(model: string, previous: string): Promise<JsonRecord> {
    const response = {
      id: responsesMemory.newId(),
      object: 'response',
      status: 'completed',
      model,
      output: [],
      store: false,
      previous_response_id: previous === '' ? null : previous,
      created_at: Math.floor(Date.now() / 1000),
    }
    await send(JSON.stringify({ type: 'response.created', sequence_number: 0, response }))
    await send(JSON.stringify({ type: 'response.completed', sequence_number: 1, response }))
    return response
  }

  function refuse(thrown: unknown): Promise<void> {
    const error = asGatewayError(thrown)
    // The client may have left.
    return send(envelope(error.status, asRecord(asRecord(errorBody(error)).error))).catch(() => {})
  }

  return {
    /** Takes a message of the client. Never rejects. */
    take(text: string): Promise<void> {
      if (waiting >= MOST_WAITING) {
        const error = { code: 'too_many_messages', message: 'Wait for the end of a response before the next.' }
        return send(envelope(429, error)).catch(() => {})
      }
      let footprint: Footprint
      try {
        footprint = hold(text.length)
      } catch (error) {
        return refuse(error)
      }
      waiting += 1
      turns = turns
        .then(() => {
          // The turn's own call counts it.
          footprint.release()
          return turn(text)
        })
        .catch(refuse)
        .finally(() => {
          waiting -= 1
        })
      return turns
    },
    /** To be called when the connection is closed: forgets what it remembers. */
    end() {
      isClosed = true
      forget()
    },
    /** Whether a turn is running. */
    get busy() {
      return waiting > 0
    },
  }
}

const TERMINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** A failure as its clients read it. */
export function envelope(status: number, { type, code, message, param }: JsonRecord): string {
  const error = {
    type: asText(type) === 'error' || type === undefined ? 'invalid_request_error' : type,
    code: asText(code) || 'invalid_request',
    message: asText(message),
    ...(typeof param === 'string' ? { param } : {}),
  }
  return JSON.stringify({ type: 'error', status, error })
}
