import { GatewayError } from '../lib/errors.ts'
import { editForm, partsOf } from '../lib/multipart.ts'
import type { TranscriptionRequest } from '../modes/audio-transcription.ts'
import { usageOf } from '../modes/usage.ts'
import { openaiEmbeddedFailure, openaiFailure } from './openai-failure.ts'
import { eventRelay } from './openai-json.ts'
import { count, openaiUsage } from './openai-usage.ts'
import type { Adapter, Reply } from './provider.ts'

const decoder = new TextDecoder()
const PLAIN = new Set(['text', 'srt', 'vtt'])

/** Transcription: the client's form with the model renamed and every other byte as it was. */
export const openaiTranscription: Adapter<TranscriptionRequest> = {
  request({ bytes, contentType }, connection) {
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/audio/transcriptions`,
      headers: { ...connection.headers, 'content-type': contentType, accept: '*/*' },
      body: editForm(bytes, partsOf(bytes, contentType), { model: connection.model }),
    }
  },
  reply(bytes, headers, { body: request }): Reply {
    const contentType = headers['content-type'] ?? 'text/plain; charset=utf-8'
    if (PLAIN.has(request.response_format ?? '')) {
      if (/\bhtml\b/i.test(contentType)) throw malformed()
      return { bytes, contentType, usage: undefined, outputCharacters: bytes.byteLength }
    }
    const body = parse(bytes)
    if (body.error) throw openaiEmbeddedFailure(body.error)
    if (typeof body.text !== 'string') throw malformed()
    const reported = body.usage as { seconds?: unknown } | undefined
    const audioSeconds = count(reported?.seconds ?? body.duration)
    const usage = openaiUsage(body.usage) ?? (audioSeconds > 0 ? usageOf({ audioSeconds }) : undefined)
    return { bytes, contentType: 'application/json', usage, outputCharacters: body.text.length }
  },
  stream: () => eventRelay(/\.done$/),
  failure: openaiFailure,
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Named below.
  }
  throw malformed()
}

function malformed(): GatewayError {
  return new GatewayError('upstream_malformed', "The provider's answer is not a transcription.")
}
