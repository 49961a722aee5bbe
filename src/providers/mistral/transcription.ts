import { asRecord, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../modes/audio-transcription.ts'
import { openaiTranscription } from '../openai/transcription.ts'
import { type Adapter, type Connection, dropper, type Outgoing } from '../provider.ts'
import { listedSegments } from '../wire/transcript/listed-segments.ts'
import { ownTranscriptionOptions } from '../wire/transcript/own-options.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import { ownFields, recordingForm } from '../wire/transcript/recording-form.ts'
import { TIMED_FORMATS, transcriptReply } from '../wire/transcript/transcript-reply.ts'

const API = "Mistral's transcriptions"

/** Options that name another recording than the one of the form. */
const OTHER_RECORDINGS = ['file_url', 'file_id'] as const

/** Models that refuse a language beside times. */
const EITHER = /^voxtral-mini-(2507|2602|latest)$/

const encoder = new TextEncoder()

/** Transcription at OpenAI's path, which knows no formats: they are written here. An answer in plain JSON keeps all that
 *  the vendor says. The vendor's own options (`diarize`, `context_bias` …) are forwarded. */
export const mistralTranscription: Adapter<TranscriptionRequest> = {
  ...openaiTranscription,
  request(call, connection) {
    const form = recordingForm(call, (body) => ownFields(fieldsOf({ ...call, body }, connection), API))
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/audio/transcriptions`,
      headers: { ...connection.headers, 'content-type': form.contentType, accept: '*/*' },
      upload: form.body,
    }
  },
  reply(bytes, headers, call) {
    const { body } = call
    const { response_format: format = 'json' } = body
    const relayed = openaiTranscription.reply(bytes, headers, { ...call, body: { ...body, response_format: 'json' } })
    const answer = parseRecord(bytes) ?? {}
    const seconds = readSeconds(asRecord(answer.usage).prompt_audio_seconds)
    const { usage, outputCharacters } = relayed
    if (format !== 'json' && format !== null) {
      return transcriptReply(listedSegments(answer, seconds), body, usage)
    }
    if (seconds === undefined) return relayed
    const told = { ...answer, usage: { ...asRecord(answer.usage), type: 'duration', seconds } }
    return { bytes: encoder.encode(JSON.stringify(told)), contentType: 'application/json', usage, outputCharacters }
  },
}

function fieldsOf(call: Outgoing<TranscriptionRequest>, { model }: Connection): JsonRecord {
  const { language, response_format: format, stream, temperature, timestamp_granularities } = call.body
  const drop = dropper(call)
  const own = ownTranscriptionOptions({ ...call.body, stream: undefined }, API, { drop, refused: OTHER_RECORDINGS })
  const isTimed = stream !== true && TIMED_FORMATS.has(format)
  const isEither = isTimed && language != null && EITHER.test(model)
  if (isEither) drop('language')
  const asked = timestamp_granularities == null ? [] : [timestamp_granularities].flat()
  return {
    ...(format === 'diarized_json' ? { diarize: true } : {}),
    ...own,
    model,
    language: isEither ? undefined : language,
    temperature,
    stream: stream === true ? true : undefined,
    timestamp_granularities: isTimed ? (asked.includes('word') ? 'word' : 'segment') : asked,
  }
}
