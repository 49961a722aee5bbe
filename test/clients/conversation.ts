import { inject } from 'vitest'
import { upstreamClient } from '../support/upstream-client.ts'

/** All that a client is told: where, and with which key. */
export const BASE_URL = `${inject('gatewayUrl')}/v1`
export { MASTER_KEY } from '../support/gateway.ts'

export const upstream = upstreamClient(inject('upstreamUrl'))

export const HELLO = 'Hello there, Zürich 🙂'

/** Two calls at once, of which the second has to wait for a piece of the first in a stream. */
export const TOOL_CALLS = [
  { id: 'call_a', name: 'weather', arguments: '{"city":"Zürich","unit":"celsius"}' },
  { id: 'call_b', name: 'time', arguments: '{"city":"Zürich"}' },
]
export const TOOL_INPUTS = TOOL_CALLS.map((call) => JSON.parse(call.arguments) as Record<string, string>)

export const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, unit: { type: 'string' } },
  required: ['city'],
}

/** What a structured answer must look like. */
export const PERSON = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const }, age: { type: 'integer' as const } },
  required: ['name', 'age'],
  additionalProperties: false,
}
export const ADA = { name: 'Ada Lovelace', age: 36 }

/** The JSON body that the upstream got last. */
export async function sent(model: string): Promise<Record<string, unknown>> {
  const call = (await upstream.calls(model)).at(-1)
  return JSON.parse(new TextDecoder().decode(call?.body)) as Record<string, unknown>
}

/** Resolves when the upstream has seen the last call end by its caller's leaving; throws when it has not in a second. */
export async function seenLeaving(model: string): Promise<void> {
  await upstream.until(model, (calls) => calls.at(-1)?.outcome === 'client_closed', 1000)
}

/** What the call was rejected with. */
export async function raised(call: () => PromiseLike<unknown>): Promise<Record<string, unknown>> {
  try {
    await call()
  } catch (error) {
    return error as Record<string, unknown>
  }
  throw new Error('nothing was raised')
}
