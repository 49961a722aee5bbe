import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { inputTokens } from './price/tariff.ts'
import { tokensOfCharacters } from './usage.ts'

const moderationRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group; default: omni-moderation-latest.'),
    input: z
      .union([z.string(), z.array(z.string()).min(1), z.array(z.looseObject({ type: z.string() })).min(1)], {
        error: 'must be a text, texts, or parts of type text and image_url',
      })
      .describe('What is judged.'),
  }),
)
export type ModerationRequest = z.output<ReturnType<typeof moderationRequest>>

export const moderation: Mode<ModerationRequest> = {
  name: 'moderation',
  schema: moderationRequest,
  body: 'json',
  unit: 'tokens',
  smallest: { input: 'Hi' },
  longest: () => 0,
  inputs: ({ input }) => [input].flat().length,
  measure: () => ({}),
  unreported: ({ input }) => ({ inputTokens: tokensOf(input), outputTokens: 0 }),
  tariffs: [inputTokens],
}

function tokensOf(input: ModerationRequest['input']): number {
  return [input].flat().reduce<number>((sum, one) => sum + tokensOfCharacters(charactersOf(one)), 0)
}

/** An image is judged at no charge by those vendors that judge images. */
function charactersOf(one: string | Readonly<Record<string, unknown>>): number {
  if (typeof one === 'string') return one.length
  return typeof one.text === 'string' ? one.text.length : 0
}
