import * as z from 'zod'
import { lazily } from '../lib/lazily.ts'
import { callMetadata } from './call-metadata.ts'
import { tool } from './tool.ts'

/** A request of the Responses dialect. Loose: a vendor with native Responses gets the client's own fields, and the
 *  translation to chat refuses those that chat cannot express. */
export const responsesRequest = lazily(() =>
  z.looseObject({
    model: z.string().min(1).describe('Public model name, alias or route group.'),
    input: z
      .union([z.string(), z.array(z.looseObject({}))], { error: 'must be a string or a list of items' })
      .nullish()
      .describe('What to answer: a text, or items such as messages, function calls and their outputs.'),
    instructions: z.string().nullish().describe('Goes before the input, as a system message.'),
    stream: z.boolean().nullish().describe('Answer as server-sent events.'),
    tools: z.array(tool()).nullish(),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
    text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
    reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
    include: z.array(z.string()).nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    presence_penalty: z.number().nullish(),
    frequency_penalty: z.number().nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    store: z.boolean().nullish(),
    background: z.boolean().nullish(),
    previous_response_id: z.string().nullish(),
    metadata: callMetadata().nullish(),
  }),
)
export type ResponsesRequest = z.output<ReturnType<typeof responsesRequest>>
