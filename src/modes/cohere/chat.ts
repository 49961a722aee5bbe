import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { callMetadata } from '../call-metadata.ts'
import { tool } from '../tool.ts'

const content = () => z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])

/** A request of Cohere's chat, version 2. Loose: its own vendor gets the client's own fields. */
export const cohereChatRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    messages: z
      .array(z.looseObject({ role: z.string(), content: content().nullish() }))
      .min(1)
      .describe('The conversation so far.'),
    stream: z.boolean().nullish().describe('Answer as server-sent events.'),
    tools: z.array(tool()).nullish(),
    tool_choice: z.enum(['REQUIRED', 'NONE']).nullish(),
    documents: z.array(z.union([z.string(), z.looseObject({})])).nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    thinking: z.looseObject({ type: z.string(), token_budget: z.number().nullish() }).nullish(),
    max_tokens: z.int().min(0).nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    temperature: z.number().nullish(),
    p: z.number().nullish(),
    k: z.number().nullish(),
    metadata: callMetadata().nullish(),
  }),
)
export type CohereChatRequest = z.output<ReturnType<typeof cohereChatRequest>>
