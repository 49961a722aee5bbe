import { GatewayError } from '../../lib/errors.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../modes/audio-transcription.ts'
import type { TranslationRequest } from '../../modes/audio-translation.ts'
import { usageOf } from '../../modes/usage.ts'
import type { Adapter, Reply } from '../provider.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import { lastCueEnd } from '../wire/transcript/subtitles.ts'
import { openaiEmbeddedFailure, openaiFailure } from './failure.ts'
import { formRequest } from './form-request.ts'
import { eventRelay } from './json.ts'
import { openaiUsage } from './usage.ts'

const utf8 = new TextDecoder()
const PLAIN = new Set(['text', 'srt', 'vtt'])

/** Transcription: the client's form is relayed while it arrives. */
export const openaiTranscription: Adapter<TranscriptionRequest> = {
  request: formRequest('/audio/transcriptions'),
  reply(bytes, headers, { body: request }): Reply {
    const contentType = headers['content-type'] ?? 'text/plain; charset=utf-8'
    if (PLAIN.has(request.response_format ?? '')) {
      if (/\bhtml\b/i.test(contentType)) throw malformed()
      // Plain answers report no usage, but subtitles contain the time of their end.
      const audioSeconds = request.response_format === 'text' ? undefined : lastCueEnd(utf8.decode(bytes))
      const usage = audioSeconds ? usageOf({ audioSeconds, estimated: true }) : undefined
      return { bytes, contentType, usage, outputCharacters: bytes.byteLength }
    }
    const body = parseRecord(bytes)
    if (body?.error) throw openaiEmbeddedFailure(body.error)
    if (typeof body?.text !== 'string') throw malformed()
    const reported = body.usage as { seconds?: unknown } | undefined
    const audioSeconds = readSeconds(reported?.seconds ?? body.duration) ?? 0
    const usage = openaiUsage(body.usage) ?? (audioSeconds > 0 ? usageOf({ audioSeconds }) : undefined)
    return { bytes, contentType: 'application/json', usage, outputCharacters: body.text.length }
  },
  stream: () => eventRelay(/\.done$/),
  events: ({ text, logprobs, usage }) => {
    const more = { ...(logprobs ? { logprobs } : {}), ...(usage ? { usage } : {}) }
    return [
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, ...more },
    ]
  },
  failure: openaiFailure,
}

/** Translation to English, which is not streamed. */
export const openaiTranslation: Adapter<TranslationRequest> = {
  request: formRequest('/audio/translations'),
  reply: (bytes, headers, call) => openaiTranscription.reply(bytes, headers, call),
  failure: openaiFailure,
}

function malformed(): GatewayError {
  return new GatewayError('upstream_malformed', "The provider's answer is not a transcription.")
}
