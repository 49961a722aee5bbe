import { sampleOf } from '../../data/call-samples.ts'
import { exampleCall } from '../../design/call/call-code.tsx'
import type { Call } from './call.ts'

/** The placeholder for the original prompt, which the gateway does not store. */
const PLACE = 'the question is not kept'

/** Bodies of endpoints that their mode does not tell. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  messages: { max_tokens: 1024, messages: [{ role: 'user', content: PLACE }] },
  responses: { input: PLACE },
  'chat/completions': { messages: [{ role: 'user', content: PLACE }] },
}

/** The call as a command: what is known of it, with a place for what was asked. */
export function curlOf({ endpoint, mode, requested_model: model, streamed, tags, prompt }: Call): string {
  const path = endpoint.replace(/^\/v1\//, '')
  const example = exampleCall(model, mode)
  const metadata = { ...(tags.length > 0 && { tags }), ...(prompt && { prompt_ref: prompt }) }
  return sampleOf('curl', {
    ...example,
    endpoint: path,
    body: {
      ...(BODIES[path] ? { model, ...BODIES[path] } : example.body),
      ...(streamed && { stream: true }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    },
  })
}
