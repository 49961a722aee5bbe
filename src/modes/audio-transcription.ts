import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { flag, formFile } from './form.ts'
import type { Mode } from './mode.ts'
import { perUnit, tokensInstead } from './price/tariff.ts'
import type { Usage } from './usage.ts'

/** The typical tokens of one second of speech, at vendors that bill tokens. */
const SECOND = { input: 10, output: 4 }

/** The usual rate of speech (128 kbit/s), and the rate of the strongest compression (6 kbit/s), which gives the longest
 *  recording. */
const BYTES_A_SECOND = { likely: 16_000, most: 750 }

function recordingOf(seconds: number): Partial<Usage> {
  const audioSeconds = Math.max(1, Math.ceil(seconds))
  const inputTokens = SECOND.input * audioSeconds
  return { audioSeconds, inputTokens, audioInputTokens: inputTokens, outputTokens: SECOND.output * audioSeconds }
}

const transcriptionRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    file: formFile().describe('The recording.'),
    language: z.string().nullish().describe('ISO 639-1 code of what is spoken.'),
    prompt: z.string().nullish(),
    response_format: z.enum(['json', 'verbose_json', 'text', 'srt', 'vtt', 'diarized_json']).nullish(),
    temperature: z.coerce.number().min(0).max(1).nullish(),
    stream: flag().nullish(),
    timestamp_granularities: z.union([z.string(), z.array(z.string())]).nullish(),
  }),
)
export type TranscriptionRequest = z.output<ReturnType<typeof transcriptionRequest>>

export const audioTranscription: Mode<TranscriptionRequest> = {
  name: 'audio_transcription',
  schema: transcriptionRequest,
  body: 'multipart',
  form: { file: 'file' },
  unit: 'audioSeconds',
  measure: () => ({}),
  ofFile: (bytes, seconds) => ({
    likely: recordingOf(seconds ?? bytes / BYTES_A_SECOND.likely),
    most: recordingOf(seconds ?? bytes / BYTES_A_SECOND.most),
  }),
  tariffs: [perUnit('audioSeconds', 'cost_per_audio_second'), tokensInstead(SECOND)],
}
