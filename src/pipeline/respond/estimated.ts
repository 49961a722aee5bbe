import { inputBound } from '../admit/input-bound.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import type { PipelineServices } from '../services.ts'
import { lacks } from '../translate/lacking-capabilities.ts'
import type { Over } from './relay.ts'
import { answer } from './respond.ts'

const encoder = new TextEncoder()

/** Answers how long a request is by the gateway's own estimate. Undefined if the call asks for anything else. */
export function estimated(services: PipelineServices, call: Call, over: Over): Promise<Answer> | undefined {
  const estimate = call.endpoint.dialect?.estimate
  return estimate && answered(services, call, estimate(inputBound(call, call.request).likely), over)
}

async function answered(services: PipelineServices, call: Call, body: object, over: Over): Promise<Answer> {
  const bytes = encoder.encode(JSON.stringify(body))
  const reply = { bytes, contentType: 'application/json', usage: undefined, outputCharacters: 0 }
  const { headers, ...rest } = await answer(services, call, { kind: 'whole', reply }, over)
  return { ...rest, headers: { ...headers, 'x-gateway-estimated': '1' } }
}

/** Whether every deployment that was asked turned out to lack the route that its kind of provider usually has. */
export function foundNoRoute({ attempts, endpoint: { dialect } }: Call): boolean {
  const native = dialect?.native
  return native !== undefined && attempts.length > 0 && attempts.every(({ deployment }) => lacks(deployment, native))
}
