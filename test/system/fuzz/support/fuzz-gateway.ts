import { expect } from 'vitest'
import { providers } from '../../../../src/providers/index.ts'
import { startGateway, type TestGateway } from '../../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../../support/scripted-upstream.ts'

/** Longer than any answer of this machine takes; shorter than any clock of the gateway. */
export const HANG_MS = 2000

export const parameters = {
  seed: Number(process.env.FUZZ_SEED ?? 20_261_121),
  numRuns: Number(process.env.FUZZ_RUNS ?? 100_000),
  interruptAfterTimeLimit: Number(process.env.FUZZ_MS ?? 3000),
}

/** Every kind of provider but one: Vertex asks Google for its tokens, which no test does. */
export const KINDS = [...providers.keys()].filter((kind) => kind !== 'vertex' && kind !== 'echo')

/** A gateway with a deployment of every kind of provider, each at the path `/<kind>` of the scripted upstream. */
export async function fuzzGateway(): Promise<{ gateway: TestGateway; upstream: Upstream; close(): Promise<void> }> {
  const upstream = await startUpstream()
  const entries = KINDS.map(
    (kind) => `  - model_name: ${kind}
    deployment_id: ${kind}
    gateway_params:
      model: ${kind}/m
      api_base: ${upstream.url}/${kind}
      api_key: sk-canary-of-the-fuzz
      aws_access_key_id: id
      aws_secret_access_key: secret
    model_info: { default_params: { voice_id: v } }
`,
  )
  const gateway = await startGateway(`general_settings: { max_json_bytes: 1000000, max_upload_bytes: 1000000 }
router_settings: { cooldown_time: 0, timeout: 10 }
model_list:
  - model_name: echo
    gateway_params: { model: echo/m }
${entries.join('')}`)
  return {
    gateway,
    upstream,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

/** What nobody caught, from now on. */
export function uncaught(): { readonly errors: readonly unknown[]; stop(): void } {
  const errors: unknown[] = []
  const note = (error: unknown) => errors.push(error)
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  return {
    errors,
    stop() {
      process.off('uncaughtException', note)
      process.off('unhandledRejection', note)
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
function ownFailure({ type, jsonrpc, error, detail }: any): Record<string, unknown> {
  // ElevenLabs' shape.
  if (detail) {
    const { status: _status, ...own } = detail
    return { param: null, ...own }
  }
  // Google's.
  if (error?.details) {
    const [{ reason: code, metadata }] = error.details
    return { code, message: error.message, type: metadata.type, param: metadata.param ?? null }
  }
  if (type === 'error') return { message: '', param: null, code: null, ...error }
  if (jsonrpc === undefined) return error
  const { request_id: _id, ...data } = error.data
  return { ...data, message: error.message }
}

/** No failure of the gateway's own, and every failure in one of the shapes that clients know. */
export function expectClearFailure(status: number, text: string): void {
  expect(status, text).toBeGreaterThanOrEqual(400)
  expect(status, text).not.toBe(500)
  const body = JSON.parse(text)
  const own = ownFailure(body)
  expect(Object.keys(own).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(typeof own.message).toBe('string')
  expect(text).not.toContain('sk-canary')
}

export const internalFailures = (gateway: TestGateway) => gateway.logs.filter(({ event }) => event === 'internal')
