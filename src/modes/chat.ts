import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { callMetadata } from './call-metadata.ts'
import type { Mode } from './mode.ts'
import { asUsage, once, surchargesAsked } from './price/surcharges-asked.ts'
import { textTokens } from './price/tariff.ts'
import { tool } from './tool.ts'

const message = () =>
  z.looseObject({
    role: z.string(),
  })

/** A tool of which every provider can be told. */
const chatTool = () =>
  tool()
    .extend({
      function: z
        .looseObject({ name: z.string(), parameters: z.record(z.string(), z.unknown()).nullish() })
        .nullish()
        .describe('The name of a function, what it does, and the JSON schema of its parameters.'),
    })
    .refine(({ type, function: described }) => type !== 'function' || isSet(described), {
      path: ['function'],
      error: 'A tool of type function needs its function.',
    })

const isSet = (value: unknown) => value !== undefined && value !== null

export const chatRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    messages: z.array(message()).min(1).describe('The conversation so far.'),
    stream: z.boolean().nullish().describe('Answer as server-sent events.'),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    tools: z.array(chatTool()).nullish(),
    metadata: callMetadata().nullish(),
  }),
)
export type ChatRequest = z.output<ReturnType<typeof chatRequest>>

export const chat: Mode<ChatRequest> = {
  name: 'chat',
  schema: chatRequest,
  body: 'json',
  unit: 'tokens',
  smallest: { messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 16 },
  measure: (request) => asUsage(surchargesAsked(request), once),
  asks: surchargesAsked,
  tariffs: [textTokens],
}
