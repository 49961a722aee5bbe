import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { isRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { Adapter, Connection, Outgoing, StreamReader, StreamStep } from '../provider.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { cohereFailure } from './cohere-failure.ts'
import { cohereReply } from './cohere-reply.ts'
import { cohereStream } from './cohere-stream.ts'
import { cohereUsage } from './cohere-usage.ts'

const contentType = 'application/json'

/** Cohere's chat for its own clients: bytes are relayed both ways, the model is renamed and the usage read. */
export const nativeCohereChat: Adapter = {
  request: (call, connection) => relayed(call, connection, '/v2/chat'),
  reply(bytes, _headers, { body }) {
    const { usage, outputCharacters } = cohereReply(bytes, body.model)
    return { bytes, contentType, usage, outputCharacters }
  },
  stream: ({ body }) => relayedStream(cohereStream(body.model)),
  failure: cohereFailure,
}

/** Its embeddings, likewise. */
export const nativeCohereEmbed: Adapter = {
  request: (call, connection) => relayed(call, connection, '/v2/embed'),
  reply(bytes) {
    const body = parseRecord(bytes)
    if (!isRecord(body?.embeddings)) {
      throw new GatewayError('upstream_malformed', "The provider's answer has no embeddings.")
    }
    return { bytes, contentType, usage: cohereUsage(body.meta), outputCharacters: 0 }
  },
  failure: cohereFailure,
}

function relayed({ body, bytes }: Outgoing, connection: Connection, path: string) {
  const changes: Record<string, unknown> = {}
  if (body.model !== connection.model) changes.model = connection.model
  if (body.metadata !== undefined) changes.metadata = undefined
  return {
    method: 'POST' as const,
    origin: connection.origin,
    path: connection.basePath + path,
    headers: connection.headers,
    body: editJson(bytes, body, changes),
  }
}

/** Each event as it came, with what it means. */
function relayedStream(meaning: StreamReader): StreamReader {
  return sseReader(
    (frame) => {
      let step: StreamStep = {}
      for (const { chunk: _, characters = 0, ...more } of meaning.push(frame.bytes)) {
        step = { ...step, ...more, characters: (step.characters ?? 0) + characters }
      }
      return step.failure || step.malformed ? step : { ...step, out: frame.bytes }
    },
    () => new Uint8Array(),
  )
}
