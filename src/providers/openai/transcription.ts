import { GatewayError } from '../../lib/errors.ts'
import { asRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../modes/audio-transcription.ts'
import type { TranslationRequest } from '../../modes/audio-translation.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import type { Adapter, Reply } from '../provider.ts'
import { listedSegments } from '../wire/transcript/listed-segments.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import { lastCueEnd } from '../wire/transcript/subtitles.ts'
import { transcriptReply } from '../wire/transcript/transcript-reply.ts'
import { eventRelay } from './event-relay.ts'
import { openaiEmbeddedFailure, openaiFailure } from './failure.ts'
import { formRequest } from './form-request.ts'
import { publicTranscript } from './public-transcript.ts'
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
      const answer = (/\bjson\b/i.test(contentType) && parseRecord(bytes)) || {}
      if (answer.error) throw openaiEmbeddedFailure(answer.error)
      if (typeof answer.text === 'string') return inPlain(answer, request)
      // Plain answers report no usage, but subtitles contain the time of their end.
      const audioSeconds = request.response_format === 'text' ? undefined : lastCueEnd(utf8.decode(bytes))
      const usage = audioSeconds ? usageOf({ audioSeconds, estimated: true }) : undefined
      return { bytes, contentType, usage, outputCharacters: bytes.byteLength }
    }
    const body = parseRecord(bytes)
    if (body?.error) throw openaiEmbeddedFailure(body.error)
    if (typeof body?.text !== 'string') throw malformed()
    return { bytes, contentType: 'application/json', usage: usageIn(body), outputCharacters: body.text.length }
  },
  stream: () => eventRelay(/\.done$/, { usageIn, publicEvents: publicTranscript() }),
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

/** An answer of a server that knows no other format than JSON, as what was asked for. */
function inPlain(answer: JsonRecord, request: TranscriptionRequest): Reply {
  const transcript = listedSegments(answer, undefined)
  if (request.response_format !== 'text' && transcript.seconds === undefined) {
    throw new GatewayError('unusable_answer', "The provider's answer has no times, which subtitles need.")
  }
  return transcriptReply(transcript, request, usageIn(answer))
}

/** Seconds, tokens or both. Mistral's seconds have a name of their own. */
function usageIn({ usage, duration }: JsonRecord): Usage | undefined {
  const { seconds, prompt_audio_seconds } = asRecord(usage)
  const audioSeconds = readSeconds(seconds ?? prompt_audio_seconds ?? duration) ?? 0
  const tokens = openaiUsage(usage)
  return tokens || audioSeconds > 0 ? usageOf({ ...tokens, audioSeconds }) : undefined
}

function malformed(): GatewayError {
  return new GatewayError('upstream_malformed', "The provider's answer is not a transcription.")
}
