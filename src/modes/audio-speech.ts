import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { perUnit } from './price/tariff.ts'

export const speechRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    input: z.string().min(1).describe('The text to say.'),
    voice: z
      .union([z.string().min(1), z.looseObject({ id: z.string().min(1) })])
      .nullish()
      .describe('The voice, by the name that the provider gives it.'),
    response_format: z.string().nullish().describe('mp3, opus, aac, flac, wav, pcm …'),
  }),
)
export type SpeechRequest = z.output<ReturnType<typeof speechRequest>>

export const audioSpeech: Mode<SpeechRequest> = {
  name: 'audio_speech',
  schema: speechRequest,
  body: 'json',
  unit: 'characters',
  longest: 0,
  measure: ({ input }) => ({ characters: input.length }),
  tariffs: [perUnit('characters', 'cost_per_character')],
}
