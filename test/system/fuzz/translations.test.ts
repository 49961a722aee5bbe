import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { routes } from '../../../src/app.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import type { ModelRequest } from '../../../src/modes/mode.ts'
import { providers } from '../../../src/providers/index.ts'
import type { Capability, Outgoing } from '../../../src/providers/provider.ts'
import { gatewayParams } from '../../../src/routing/configuration.ts'
import { fixtures } from '../../fixtures/index.ts'
import { KINDS, parameters } from './support/fuzz-gateway.ts'
import { mutatedJson, mutatedStream } from './support/mutated.ts'
import { type JsonSchema, nearSchema } from './support/near-schema.ts'

const encoder = new TextEncoder()

/** Where each kind of request comes in, for the schema that its bodies have passed. */
const PATHS: Readonly<Partial<Record<Capability, string>>> = {
  chat: '/v1/chat/completions',
  embedding: '/v1/embeddings',
  image_generation: '/v1/images/generations',
  audio_speech: '/v1/audio/speech',
  rerank: '/v1/rerank',
}

const cases = KINDS.flatMap((kind) => {
  const provider = providers.get(kind)
  const given = {
    model: `${kind}/m`,
    api_base: 'http://x.test',
    api_key: 'k',
    aws_access_key_id: 'i',
    aws_secret_access_key: 's',
  }
  const connection = provider?.connect(gatewayParams().parse(given), { voice_id: 'v' })
  return Object.entries(PATHS).flatMap(([capability, path]) => {
    const adapter = provider?.adapters[capability as Capability]
    const schema = routes.find(({ contract }) => contract.path === path)?.contract.body?.schema()
    if (!adapter || !connection || !schema) return []
    const json = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as JsonSchema
    return [{ kind, capability, adapter, connection, schema, bodies: nearSchema(json, false) }]
  })
})

const callOf = (body: ModelRequest): Outgoing => {
  const streamed = body.stream === true
  return {
    body,
    bytes: encoder.encode(JSON.stringify(body)),
    streamed,
    clientHeaders: {},
  }
}

const limits = { seed: parameters.seed, numRuns: 150, interruptAfterTimeLimit: parameters.interruptAfterTimeLimit }

describe('any request that its schema accepts', () => {
  it.each(cases)(
    'can be put to $kind ($capability), or is refused by name',
    async ({ adapter, connection, schema, bodies }) => {
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const read = { ...(body as object), model: 'm' } as ModelRequest
          if (!schema.safeParse(read).success) return
          try {
            await adapter.request(callOf(read), connection)
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError)
            expect(error).toMatchObject({ failure: 'invalid_request' })
          }
        }),
        limits,
      )
    },
  )
})

const call = callOf({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
const recorded = fixtures.flatMap((set) => {
  const adapterOf = (capability: Capability = 'chat') => providers.get(set.kind)?.adapters[capability]
  const streams = set.streams.flatMap(({ name, capability, body, headers }) => {
    const adapter = adapterOf(capability)
    return adapter?.stream && typeof body === 'string' ? [{ kind: set.kind, name, adapter, body, headers }] : []
  })
  const replies = set.replies.flatMap(({ name, capability, body, headers }) => {
    const adapter = adapterOf(capability)
    return adapter && typeof body !== 'string' ? [{ kind: set.kind, name, adapter, body, headers }] : []
  })
  return [{ kind: set.kind, streams, replies }]
})

describe('any answer', () => {
  it.each(recorded.filter(({ replies }) => replies.length > 0))('of $kind is read, or is an error', ({ replies }) => {
    const answer = fc
      .constantFrom(...replies)
      .chain((one) => mutatedJson(one.body).map((value) => ({ ...one, text: JSON.stringify(value) ?? '' })))
    fc.assert(
      fc.property(answer, ({ adapter, text, headers }) => {
        try {
          adapter.reply(encoder.encode(text), headers ?? {}, call)
        } catch (error) {
          expect(error, text).toBeInstanceOf(GatewayError)
        }
      }),
      limits,
    )
  })

  it.each(recorded.filter(({ streams }) => streams.length > 0))('of $kind, streamed, is read', ({ streams }) => {
    const stream = fc
      .constantFrom(...streams)
      .chain((one) => mutatedStream(one.body).map((pieces) => ({ ...one, pieces })))
    fc.assert(
      fc.property(stream, ({ adapter, pieces, headers }) => {
        const reader = adapter.stream?.(call, headers ?? {})
        for (const piece of pieces) {
          const steps = reader?.push(encoder.encode(piece)) ?? []
          if (steps.some(({ done, failure }) => done || failure)) break
        }
        reader?.closing?.()
      }),
      limits,
    )
  })
})
