import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { perUnit, tokensInstead } from './price/tariff.ts'
import { tokensOfCharacters } from './usage.ts'

const speechRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    input: z.string().min(1).describe('The text to say.'),
    voice: z
      .union([z.string().min(1), z.looseObject({ id: z.string().min(1) })])
      .nullish()
      .describe('The voice, by the name that the provider gives it.'),
    response_format: z.string().nullish().describe('mp3, opus, aac, flac, wav, pcm …'),
    stream_format: z.string().nullish().describe('audio, or sse for events that hold the sound.'),
  }),
)
export type SpeechRequest = z.output<ReturnType<typeof speechRequest>>

/** The typical tokens of one character at usual speed, at vendors that bill tokens. */
const CHARACTER = { input: 0.25, output: 1.4 }
/** More tokens than the longest text that those vendors take makes. */
const LONGEST_SOUND = 16_384

export const audioSpeech = {
  name: 'audio_speech',
  schema: speechRequest,
  body: 'json',
  unit: 'characters',
  longest: () => LONGEST_SOUND,
  measure: ({ input }) => ({ characters: charactersOf(input) }),
  unreported: ({ input }) => spokenTokens(input),
  tariffs: [perUnit('characters', 'cost_per_character'), tokensInstead(CHARACTER)],
} satisfies Mode<SpeechRequest>

const SURROGATE_PAIR = /[\ud800-\udbff][\udc00-\udfff]/g

/** The characters that vendors bill: one for an emoji, whose length is 2. */
export function charactersOf(text: string): number {
  const pairs = text.match(SURROGATE_PAIR)?.length ?? 0
  return text.length - pairs
}

/** The likely tokens of a text and of its sound. */
export function spokenTokens(text: string): { readonly inputTokens: number; readonly outputTokens: number } {
  return {
    inputTokens: tokensOfCharacters(text.length),
    outputTokens: Math.ceil(CHARACTER.output * text.length),
  }
}
