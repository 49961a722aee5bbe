import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import type { Mode } from './mode.ts'
import { inputTokens } from './price/tariff.ts'
import { tokensOfCharacters } from './usage.ts'

const tokens = () => z.array(z.int())

const embeddingRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    input: z
      .union([z.string().min(1), z.array(z.string()).min(1), tokens().min(1), z.array(tokens()).min(1)])
      .describe('Text, texts, or their tokens.'),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1).nullish(),
  }),
)
export type EmbeddingRequest = z.output<ReturnType<typeof embeddingRequest>>

export const embedding: Mode<EmbeddingRequest> = {
  name: 'embedding',
  schema: embeddingRequest,
  body: 'json',
  unit: 'tokens',
  smallest: { input: 'Hi' },
  longest: () => 0,
  inputs: ({ input }) => (Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1),
  measure: () => ({}),
  unreported: ({ input }) => ({ inputTokens: tokensOf(input), outputTokens: 0 }),
  tariffs: [inputTokens],
}

function tokensOf(input: EmbeddingRequest['input']): number {
  if (typeof input === 'string') return tokensOfCharacters(input.length)
  let sum = 0
  // A token in the request counts as one token.
  for (const one of input)
    sum += typeof one === 'string' ? tokensOfCharacters(one.length) : typeof one === 'number' ? 1 : one.length
  return sum
}
