import { GatewayError } from '../../lib/errors.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import type { Over } from '../respond/relay.ts'
import { answer, EVENT_STREAM, routeHeaders } from '../respond/respond.ts'
import { takenInTime } from '../respond/taken-in-time.ts'
import type { PipelineServices } from '../services.ts'
import type { CachedAnswer } from './cache-use.ts'

const encoder = new TextEncoder()

/** So many pieces are written before the client must have taken them: a clock for each costs more than the piece. */
const AT_ONCE = 64

/** Answers a call from the cache: a stream as a stream, in the pieces in which it was first sent. */
export function replay(
  services: PipelineServices,
  call: Call,
  hit: CachedAnswer,
  over: Over,
): Answer | Promise<Answer> {
  const { contentType, body, pieces, usage } = hit
  call.usage = usage
  const bytes = encoder.encode(body)
  if (!pieces) {
    return answer(services, call, { kind: 'whole', reply: { bytes, contentType, usage, outputCharacters: 0 } }, over)
  }
  const cuts = pieces
  call.recording?.piece(bytes)
  const client = call.client.openStream()
  const { signal } = call.client
  async function send(): Promise<void> {
    let at = 0
    let writing: Promise<void>[] = []
    for (const [index, length] of cuts.entries()) {
      const written = client.write(bytes.subarray(at, at + length))
      at += length
      if (written) writing.push(written)
      if (writing.length < AT_ONCE && index < cuts.length - 1) continue
      if (writing.length > 0)
        await takenInTime(
          call,
          client,
          Promise.all(writing).then(() => {}),
        )
      if (signal.aborted) throw departure(signal)
      writing = []
    }
    await over(undefined)
    await client.close()
  }
  const sent = send().catch((error) => over(error instanceof GatewayError ? error : departure(signal)))
  call.client.defer(sent)
  return {
    status: 200,
    headers: { ...routeHeaders(call), ...EVENT_STREAM, 'content-type': contentType },
    body: client.readable,
  }
}
