import * as z from 'zod'
import { asList, asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { lazily } from '../../lib/lazily.ts'
import { audioTranscription } from '../audio-transcription.ts'
import { adapted, applyTable, carried, type FieldTable, hint, refused, unruled } from '../field-table.ts'
import { formFile } from '../form.ts'
import type { Mode } from '../mode.ts'
import { refusedField } from './refused-field.ts'

const speechToTextRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group, in the field `model_id`.'),
    file: formFile().describe('The recording.'),
    language_code: z.string().nullish(),
    temperature: z.coerce.number().min(0).max(2).nullish(),
  }),
)
export type SpeechToTextRequest = z.output<ReturnType<typeof speechToTextRequest>>

/** What becomes of its fields at other vendors. */
export const SPEECH_TO_TEXT_FIELDS: FieldTable = {
  model: carried(),
  file: carried(),
  language_code: carried('language'),
  temperature: carried(),
  metadata: adapted("the gateway's own"),
  timestamps_granularity: adapted('words have their times'),
  tag_audio_events: hint(['true', 'false']),
  diarize: refused(['false']),
  num_speakers: hint(),
  diarization_threshold: hint(),
  file_format: hint(['other']),
  seed: hint(),
  keyterms: hint(),
  no_verbatim: hint(['false']),
  webhook: refused(['false']),
  use_multi_channel: refused(['false']),
  enable_logging: hint(['true', true]),
}

/** Recordings as text in the shape of ElevenLabs. */
export const speechToText: Mode<SpeechToTextRequest> = {
  ...audioTranscription,
  operation: 'speech_to_text',
  form: { file: 'file', model: 'model_id' },
  schema: speechToTextRequest,
  shape: {
    request(body, drop) {
      applyTable(body, SPEECH_TO_TEXT_FIELDS, {
        drop,
        refuse(field) {
          if (entryOf(SPEECH_TO_TEXT_FIELDS, field)) refusedField(field)
        },
      })
      const { model, file, language_code, temperature, ...rest } = body as SpeechToTextRequest
      return {
        ...unruled(rest, SPEECH_TO_TEXT_FIELDS),
        ...{ model, file, response_format: 'verbose_json', timestamp_granularities: ['word'] },
        ...(language_code ? { language: language_code } : {}),
        ...(temperature == null ? {} : { temperature: Math.min(1, temperature) }),
      }
    },
    answer: ({ text, language, words, duration }) => ({
      language_code: asText(language),
      // Others do not tell how sure they are.
      language_probability: 1,
      text: asText(text),
      words: wordsOf(words),
      ...(typeof duration === 'number' ? { audio_duration_secs: duration } : {}),
    }),
  },
}

/** Words, and the pauses between them. */
function wordsOf(list: unknown): JsonRecord[] {
  let before: JsonRecord | undefined
  return asList(list).flatMap((one) => {
    const { word, start, end } = asRecord(one)
    const pause = before ? [{ text: ' ', start: before.end, end: start, type: 'spacing', logprob: 0 }] : []
    before = { text: asText(word).trim(), start, end, type: 'word', logprob: 0 }
    return [...pause, before]
  })
}
