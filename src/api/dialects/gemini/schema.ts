import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import { callMetadata } from '../../../modes/call-metadata.ts'

const part = () => z.looseObject({})
const content = () =>
  z.looseObject({
    role: z.string().nullish().describe('user, model, or function.'),
    parts: z.array(part()).nullish().describe('Texts, files, calls of functions and their results.'),
  })
const contents = () => z.array(content()).min(1).describe('The conversation so far.')
const instruction = () => z.union([z.string(), content()]).nullish()
const tools = () => z.array(z.looseObject({})).nullish()
const settings = () => z.looseObject({}).nullish()

/** The body of a request of Gemini's API, whose model is named by its path. Its members are known in camel case and in
 *  snake case; the second ones are only checked where they are read. */
export const generateContentBody = lazily(() =>
  z.looseObject({
    contents: contents(),
    systemInstruction: instruction().describe('What the model is told before the conversation.'),
    tools: tools().describe('Functions that the model may call, and tools that the vendor runs.'),
    toolConfig: settings(),
    generationConfig: settings().describe('Limits, sampling, thinking, and the form of the answer.'),
    safetySettings: z.array(z.looseObject({})).nullish(),
    cachedContent: z.string().nullish(),
    metadata: callMetadata().nullish(),
  }),
)

/** What the path says of a request, as members of its body. */
const ofPath = () => ({ model: z.string().min(1), stream: z.boolean().nullish() })

export const generateContentRequest = lazily(() => generateContentBody().extend(ofPath()))
export type GenerateContentRequest = z.output<ReturnType<typeof generateContentRequest>>

/** Tokens are counted of contents, or of a whole request. */
export const geminiCountBody = lazily(() =>
  generateContentBody().extend({
    contents: contents().nullish(),
    generateContentRequest: z.looseObject({ contents: contents().nullish() }).nullish(),
  }),
)

export const geminiCountRequest = lazily(() => geminiCountBody().extend(ofPath()))
export type GeminiCountRequest = z.output<ReturnType<typeof geminiCountRequest>>
