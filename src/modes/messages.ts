import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { callMetadata } from './call-metadata.ts'

const block = () => z.looseObject({ type: z.string() })
const content = () => z.union([z.string(), z.array(block())])

export const messagesRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    max_tokens: z.int().min(0).nullish().describe('The longest answer, in tokens.'),
    messages: z
      .array(
        z.discriminatedUnion('role', [
          z.looseObject({ role: z.enum(['user', 'assistant']), content: content() }),
          z.looseObject({ role: z.literal('system'), content: content().nullish() }),
        ]),
      )
      .min(1)
      .describe('The conversation so far, in turns.'),
    system: content().nullish().describe('What the model is told before the conversation.'),
    stream: z.boolean().nullish().describe('Answer as server-sent events.'),
    tools: z.array(z.looseObject({ name: z.string().nullish(), type: z.string().nullish() })).nullish(),
    tool_choice: z.looseObject({ type: z.string() }).nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    top_k: z.number().nullish(),
    thinking: z.looseObject({ type: z.string() }).nullish(),
    metadata: callMetadata({ user_id: z.string().nullish() }).nullish(),
  }),
)
export type MessagesRequest = z.output<ReturnType<typeof messagesRequest>>
