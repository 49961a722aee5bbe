import * as z from 'zod'
import { isRecord } from '../../lib/json/lenient.ts'
import { lazily } from '../../lib/lazily.ts'
import { audioSpeech, charactersOf, spokenTokens } from '../audio-speech.ts'
import { adapted, applyTable, carried, type FieldTable, hint, unruled } from '../field-table.ts'
import type { Mode } from '../mode.ts'
import { refusedField } from './refused-field.ts'

const textToSpeechRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group; `model_id` is another name of it.'),
    text: z.string().min(1).describe('The text to say.'),
    voice: z.string().min(1),
    output_format: z.string().nullish(),
    language_code: z.string().nullish(),
    voice_settings: z.looseObject({ speed: z.number().nullish() }).nullish(),
  }),
)
export type TextToSpeechRequest = z.output<ReturnType<typeof textToSpeechRequest>>

/** What becomes of its fields at other vendors. Other settings of a voice than its speed go with the voice. */
export const TEXT_TO_SPEECH_FIELDS: FieldTable = {
  model: carried(),
  text: carried('input'),
  voice: carried(),
  output_format: carried('response_format'),
  language_code: hint(),
  voice_settings: carried('speed'),
  metadata: adapted("the gateway's own"),
  seed: hint(),
  previous_text: hint(),
  next_text: hint(),
  previous_request_ids: hint(),
  next_request_ids: hint(),
  use_pvc_as_ivc: hint(),
  apply_text_normalization: hint(['auto']),
  apply_language_text_normalization: hint([false]),
  enable_logging: hint([true, 'true']),
  optimize_streaming_latency: hint(),
}

/** Formats of the vendor that are formats of others: a codec, a sample rate, a bit rate. */
const FORMATS: Readonly<Record<string, RegExp>> = { mp3: /^mp3_/, opus: /^opus_/, wav: /^wav_24000/, pcm: /^pcm_24000/ }

/** Speech in the shape of ElevenLabs. */
export const textToSpeech: Mode<TextToSpeechRequest> = {
  ...audioSpeech,
  operation: 'text_to_speech',
  schema: textToSpeechRequest,
  measure: ({ text }) => ({ characters: charactersOf(text) }),
  unreported: ({ text }) => spokenTokens(text),
  shape: {
    request(body, drop) {
      applyTable(body, TEXT_TO_SPEECH_FIELDS, { drop, refuse: () => {} })
      const { model, text, voice, output_format, voice_settings, ...rest } = body as TextToSpeechRequest
      const { speed, ...settings } = isRecord(voice_settings) ? voice_settings : {}
      if (Object.values(settings).some((value) => value != null)) drop('voice_settings')
      const others = unruled(rest, TEXT_TO_SPEECH_FIELDS)
      const format = output_format ? { response_format: formatOf(output_format) } : {}
      return {
        response_format: 'mp3',
        ...others,
        model,
        input: text,
        voice,
        ...format,
        ...(speed == null ? {} : { speed }),
      }
    },
  },
}

function formatOf(asked: string): string {
  const [format] = Object.entries(FORMATS).find(([, pattern]) => pattern.test(asked)) ?? []
  return format ?? refusedField('output_format')
}
