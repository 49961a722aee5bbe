import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { audioTranscription } from './audio-transcription.ts'
import { formFile } from './form.ts'
import type { Mode } from './mode.ts'

const translationRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    file: formFile().describe('The recording.'),
    prompt: z.string().nullish(),
    response_format: z.enum(['json', 'verbose_json', 'text', 'srt', 'vtt']).nullish(),
    temperature: z.coerce.number().min(0).max(1).nullish(),
  }),
)
export type TranslationRequest = z.output<ReturnType<typeof translationRequest>>

/** A recording as English text: billed and limited like a transcription. */
export const audioTranslation: Mode<TranslationRequest> = {
  ...audioTranscription,
  operation: 'audio_translation',
  schema: translationRequest,
}
