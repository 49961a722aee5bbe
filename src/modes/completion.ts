import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { callMetadata } from './call-metadata.ts'
import type { Mode } from './mode.ts'
import { asUsage, once, surchargesAsked } from './price/surcharges-asked.ts'
import { textTokens } from './price/tariff.ts'

const prompt = () =>
  z.union([z.string(), z.array(z.string()).min(1)], {
    error: 'must be a string or a list of strings; lists of tokens are not taken here',
  })

export const completionRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    prompt: prompt().describe('The text to answer; a list is joined by newlines.'),
    stream: z.boolean().nullish().describe('Answer as server-sent events.'),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    metadata: callMetadata().nullish(),
  }),
)
export type CompletionRequest = z.output<ReturnType<typeof completionRequest>>

export const completion: Mode<CompletionRequest> = {
  name: 'completion',
  schema: completionRequest,
  body: 'json',
  unit: 'tokens',
  smallest: { prompt: 'Hi', max_tokens: 16 },
  measure: (request) => asUsage(surchargesAsked(request), once),
  asks: surchargesAsked,
  tariffs: [textTokens],
}
