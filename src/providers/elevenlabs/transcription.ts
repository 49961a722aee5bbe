import { GatewayError } from '../../lib/errors.ts'
import type { FormFields } from '../../lib/forms/form-parts.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../modes/audio-transcription.ts'
import type { SpeechToTextRequest } from '../../modes/elevenlabs/speech-to-text.ts'
import { type Adapter, type Connection, dropper, type Outgoing } from '../provider.ts'
import { ownTranscriptionOptions } from '../wire/transcript/own-options.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import { ownFields, recordingForm } from '../wire/transcript/recording-form.ts'
import type { Transcript, TranscriptWord } from '../wire/transcript/transcript.ts'
import { heard, TIMED_FORMATS, transcriptReply } from '../wire/transcript/transcript-reply.ts'
import { elevenlabsEmbeddedFailure, elevenlabsFailure } from './failure.ts'

const API = "ElevenLabs' speech to text"

/** Options whose answers are not one transcript: several transcripts, or a later one. */
const OTHER_ANSWERS = ['use_multi_channel', 'webhook'] as const

/** Transcription: the recording is sent in the vendor's form, and the transcript is returned in the public format that was
 *  asked for. The vendor's own options (`num_speakers`, `tag_audio_events`, `keyterms` …) are forwarded. */
export const elevenlabsTranscription: Adapter<TranscriptionRequest> = {
  request(call, connection) {
    const form = recordingForm(call, (body) => fieldsOf({ ...call, body }, connection))
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/v1/speech-to-text`,
      headers: { ...connection.headers, 'content-type': form.contentType },
      upload: form.body,
    }
  },

  reply(bytes, _headers, { body: request }) {
    const answer = parseRecord(bytes)
    if (answer?.detail) throw elevenlabsEmbeddedFailure(answer)
    if (typeof answer?.text !== 'string') {
      throw new GatewayError('upstream_malformed', "The provider's answer is not a transcription.")
    }
    const transcript = readTranscript(answer, answer.text)
    return transcriptReply(transcript, request, heard(billedSeconds(transcript, request)))
  },

  failure: elevenlabsFailure,
}

/** The same in the vendor's own shape: its answer is relayed. */
export const elevenlabsSpeechToText: Adapter<SpeechToTextRequest> = {
  ...elevenlabsTranscription,
  reply(bytes, headers, call) {
    const { timestamp_granularities: _, ...own } = call.body
    const asked = { ...call, body: { ...own, response_format: null }, form: undefined }
    const { usage, outputCharacters } = elevenlabsTranscription.reply(bytes, headers, asked)
    return { bytes, contentType: 'application/json', usage, outputCharacters }
  },
}

/** What options add to the price of a recording, as parts of it. */
const SURCHARGES = {
  keyterms: 0.2,
  entity_detection: 0.3,
  entity_redaction: 0.3,
  transcript_edit: 0.3,
  detect_speaker_roles: 0.1,
} as const

/** The length that costs as much at the usual price. */
function billedSeconds({ seconds = 0 }: Transcript, request: TranscriptionRequest): number {
  const asked = Object.entries(SURCHARGES).filter(([name]) => !OFF.has(String(request[name] ?? '')))
  return asked.reduce((sum, [, share]) => sum + share * seconds, seconds)
}

const OFF: ReadonlySet<string> = new Set(['', 'false'])

/** Everything but the file. */
function fieldsOf(call: Outgoing<TranscriptionRequest>, connection: Connection): FormFields {
  const { body } = call
  const native = ownTranscriptionOptions(body, API, { drop: dropper(call), refused: OTHER_ANSWERS })
  const { language, response_format, temperature } = body
  const fields = {
    ...native,
    model_id: connection.model,
    language_code: language ?? native.language_code,
    temperature,
    ...(TIMED_FORMATS.has(response_format) ? { timestamps_granularity: 'word' } : {}),
    ...(response_format === 'diarized_json' ? { diarize: 'true' } : {}),
  }
  return ownFields(fields, API)
}

function readTranscript(answer: JsonRecord, text: string): Transcript {
  const words: TranscriptWord[] = []
  let gap = ''
  for (const entry of asList(answer.words)) {
    const { text, type, start, end, speaker_id } = asRecord(entry)
    if (type === 'spacing') {
      gap += asText(text)
      continue
    }
    const from = readSeconds(start) ?? words.at(-1)?.end ?? 0
    const until = Math.max(from, readSeconds(end) ?? from)
    words.push({ text: asText(text), gap, start: from, end: until, speaker: asText(speaker_id) || undefined })
    gap = ''
  }
  return {
    text,
    language: asText(answer.language_code) || undefined,
    seconds: readSeconds(answer.audio_duration_secs) ?? words.at(-1)?.end,
    words,
  }
}
