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
import { lastAnswers } from './last-answers.ts'

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

/** The turns of one `stream_id`, or of those without one. */
interface Lane {
  waiting: number
  turns: Promise<void>
}

/** The messages of a lane that wait for the turn before them. Each may be as long as a body may be. */
const MOST_WAITING = 4
/** The lanes that run beside each other, and those whose last answers are remembered. */
const MOST_LANES = 16
const LONGEST_LANE_ID = 256

const encoder = new TextEncoder()

/** Responses over a WebSocket: each `response.create` is a call of its own, answered by the events of a stream. Turns
 *  with one `stream_id` run one after the other, beside those with another, and their events repeat it. The connection
 *  remembers the last answer of each that was not kept (`store: false`), until a turn that continues it fails. */
export function responsesSession(port: SessionPort) {
  const { send, hold } = port
  const lanes = new Map<string | undefined, Lane>()
  const lasts = lastAnswers(hold, MOST_LANES)

  async function turn(message: JsonRecord | undefined, lane: string | undefined): Promise<void> {
    const { type, stream: _stream, background: _background, stream_id, generate, ...request } = message ?? {}
    if (type !== 'response.create') {
      throw new GatewayError('invalid_request', "A message must be an object of type 'response.create'.", {
        param: 'type',
        code: 'invalid_message',
      })
    }
    if (stream_id != null && lane === undefined) {
      throw new GatewayError('invalid_request', `A stream_id is a text of at most ${LONGEST_LANE_ID} characters.`, {
        param: 'stream_id',
      })
    }
    const previous = asText(request.previous_response_id)
    const continued = lasts.find(previous)
    try {
      const recalled: Recalled = continued ? { ...NOTHING_RECALLED, history: continued.history } : NOTHING_RECALLED
      const body = { ...request, model: asText(request.model) } as ModelRequest
      const joined = continued ? { ...body, ...responsesMemory.joined(body, recalled) } : body
      const sent = encoder.encode(JSON.stringify({ ...joined, stream: true }))
      // Nothing but what is remembered bounds input that asks for no answer.
      if (generate === false) hold(sent.byteLength).release()
      const ended =
        generate === false
          ? await warmUp(port, body.model, previous, lane)
          : await relay(port, sent, continued ? previous : undefined, lane)
      // Not every provider repeats it.
      if (ended && (ended.store ?? request.store) === false) {
        const own = responsesMemory.inputOf(body, asText(ended.id), recalled)
        const history = [...recalled.history, ...own, ...responsesMemory.outputOf(ended)]
        lasts.remember(lane, { id: asText(ended.id), history }, sent.byteLength)
      } else if (!ended && continued) lasts.forget(continued.lane)
    } catch (error) {
      if (continued) lasts.forget(continued.lane)
      throw error
    }
  }

  function refuse(thrown: unknown, lane: string | undefined): Promise<void> {
    const error = asGatewayError(thrown)
    // The client may have left.
    return send(envelope(error.status, asRecord(asRecord(errorBody(error)).error), lane)).catch(() => {})
  }

  /** The lane of a message, and its turn. What is wrong with a message is told in its place. */
  function read(text: string): { readonly id: string | undefined; readonly run: () => Promise<void> } {
    try {
      boundJson(encoder.encode(text), REQUEST_BOUNDS)
      const message = exactRecord(text)
      const lane = message?.stream_id
      const id = typeof lane === 'string' && lane.length <= LONGEST_LANE_ID ? lane : undefined
      return { id, run: () => turn(message, id) }
    } catch (error) {
      return { id: undefined, run: () => Promise.reject(error) }
    }
  }

  return {
    /** Takes a message of the client. Never rejects. */
    take(text: string): Promise<void> {
      const { id, run } = read(text)
      const lane: Lane = lanes.get(id) ?? { waiting: 0, turns: Promise.resolve() }
      if (lane.waiting >= MOST_WAITING || (lane.waiting === 0 && lanes.size >= MOST_LANES)) {
        const error = { code: 'too_many_messages', message: 'Wait for the end of a response before the next.' }
        return send(envelope(429, error, id)).catch(() => {})
      }
      let footprint: Footprint
      try {
        footprint = hold(text.length)
      } catch (error) {
        return refuse(error, id)
      }
      lanes.set(id, lane)
      lane.waiting += 1
      lane.turns = lane.turns
        .then(() => {
          // The turn's own call counts it.
          footprint.release()
          return run()
        })
        .catch((error) => refuse(error, id))
        .finally(() => {
          lane.waiting -= 1
          if (lane.waiting === 0) lanes.delete(id)
        })
      return lane.turns
    },
    /** To be called when the connection is closed: forgets what it remembers. */
    end: lasts.end,
    /** Whether a turn is running. */
    get busy() {
      return lanes.size > 0
    },
  }
}

/** Sends the events of a call. Resolves with its response if that ended well. */
async function relay(
  { ask, send }: SessionPort,
  request: Uint8Array,
  previous: string | undefined,
  lane: string | undefined,
): Promise<JsonRecord | undefined> {
  const { status, body } = await ask(request)
  if (body instanceof Uint8Array) {
    await send(envelope(status, asRecord(parseRecord(body)?.error), lane))
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
      if (event.type === 'response.completed' || event.type === 'response.incomplete') ended = asRecord(event.response)
      await send(sentEvent(event, data, previous, lane))
    }
  }
  if (!isOver) await send(envelope(502, { code: 'upstream_truncated', message: 'The answer broke off.' }, lane))
  return ended
}

/** An event of a call as the connection sends it; as it came where nothing changes. */
function sentEvent(event: JsonRecord, text: string, previous: string | undefined, lane: string | undefined): string {
  if (event.type === 'error') return envelope(500, { ...event, ...asRecord(event.error) }, lane)
  const { response } = event
  const continues = previous !== undefined && response !== undefined
  const changes = {
    ...(continues ? { response: { ...asRecord(response), previous_response_id: previous } } : {}),
    ...inLane(lane),
  }
  return Object.keys(changes).length === 0 ? text : JSON.stringify({ ...event, ...changes })
}

/** A client that sends input without asking for an answer gets an empty response to continue from. */
async function warmUp(
  { send }: SessionPort,
  model: string,
  previous: string,
  lane: string | undefined,
): Promise<JsonRecord> {
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
  await send(JSON.stringify({ type: 'response.created', sequence_number: 0, response, ...inLane(lane) }))
  await send(JSON.stringify({ type: 'response.completed', sequence_number: 1, response, ...inLane(lane) }))
  return response
}

const TERMINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

const inLane = (lane: string | undefined) => (lane === undefined ? {} : { stream_id: lane })

/** A failure as its clients read it. */
export function envelope(status: number, { type, code, message, param }: JsonRecord, lane?: string): string {
  const error = {
    type: asText(type) === 'error' || type === undefined ? 'invalid_request_error' : type,
    code: asText(code) || 'invalid_request',
    message: asText(message),
    ...(typeof param === 'string' ? { param } : {}),
  }
  return JSON.stringify({ type: 'error', status, error, ...inLane(lane) })
}
