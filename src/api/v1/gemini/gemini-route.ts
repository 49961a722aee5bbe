import * as z from 'zod'
import type { Endpoint } from '../../../pipeline/endpoint.ts'
import { geminiErrorBody } from '../../dialects/gemini/errors.ts'
import { MEDIA_TYPES } from '../../middleware/require-type.ts'
import { defineRoute, type Handler, type ResponseContract, type Route } from '../../route.ts'

/** What all routes of Gemini's API have in common. Its clients send the key in a header of their own, or in the address. */
export const ofGemini = {
  tag: 'Models',
  auth: 'caller',
  errorBody: geminiErrorBody,
  credentialHeader: 'x-goog-api-key',
  credentialQuery: 'key',
} as const

const query = () =>
  z.object({
    key: z.string().optional().describe('The API key, for clients that send no header.'),
    alt: z.enum(['json', 'sse']).optional().describe('`sse` streams as server-sent events, `json` as a JSON list.'),
  })

interface GeminiInput {
  readonly params: { readonly model: string }
  readonly query: z.output<ReturnType<typeof query>>
  readonly json: undefined
}

/** The path of a method of a model. */
export const methodPath = (verb: string) => `/v1beta/models/{model}:${verb}`

/** A route of Gemini's API that runs a model, which its path names before the verb. */
export function geminiRoute(
  endpoint: Endpoint,
  verb: string,
  contract: {
    readonly summary: string
    readonly schema: () => z.ZodType
    readonly response: ResponseContract
  },
  handler: (scope: Parameters<Handler<GeminiInput>>[0], model: string) => ReturnType<Handler<GeminiInput>>,
): Route & { readonly endpoint: Endpoint } {
  const { summary, schema, response } = contract
  const path = methodPath(verb)
  const route = defineRoute(
    {
      ...ofGemini,
      method: 'post',
      path,
      aliases: [path.replace('/v1beta', '/v1')],
      summary,
      modelCall: true,
      params: () => z.object({ model: z.string() }),
      query,
      body: { schema, contentType: MEDIA_TYPES.json },
      responses: { 200: response },
    },
    (scope) => handler(scope, scope.input.params.model.slice(0, -verb.length - 1)),
  )
  return { ...route, endpoint }
}
