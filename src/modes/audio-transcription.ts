import * as z from 'zod'
import { type FormFile, isFormFile } from './form.ts'
import type { Mode } from './mode.ts'

const flag = z.union([z.boolean(), z.stringbool()])

export const transcriptionRequest = z.looseObject({
  model: z.string().min(1).describe('Public model name, alias or route group.'),
  file: z.custom<FormFile>(isFormFile, 'must be an uploaded file').describe('The recording.'),
  language: z.string().nullish().describe('ISO 639-1 code of what is spoken.'),
  prompt: z.string().nullish(),
  response_format: z.enum(['json', 'verbose_json', 'text', 'srt', 'vtt', 'diarized_json']).nullish(),
  temperature: z.coerce.number().min(0).max(1).nullish(),
  stream: flag.nullish(),
  timestamp_granularities: z.union([z.string(), z.array(z.string())]).nullish(),
})
export type TranscriptionRequest = z.output<typeof transcriptionRequest>

export const audioTranscription: Mode<TranscriptionRequest> = {
  name: 'audio_transcription',
  schema: transcriptionRequest,
  body: 'multipart',
  unit: 'audioSeconds',
  measure: () => ({}),
  unitCost: ({ cost_per_audio_second }) => cost_per_audio_second,
}
