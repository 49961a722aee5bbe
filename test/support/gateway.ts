import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import type { KeptRecord } from './kept-records.ts'

/** A gateway that a test can call, the same on Node and on workerd. */
export interface TestGateway {
  readonly runtime: 'node' | 'workerd'
  readonly store: SharedStore
  /** Its address, where it has one. */
  readonly url: string
  /** A request with the master key. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  chat(body: unknown, init?: RequestInit): Promise<Response>
  /** JSON log lines so far. */
  readonly logs: readonly Record<string, unknown>[]
  /** What would have gone to the database. */
  readonly records: readonly KeptRecord[]
  /** Resolves when everything that requests left to be done is done. */
  idle(): Promise<void>
  close(): Promise<void>
}

export const MASTER_KEY = 'sk-test-master-7c1f9b0e5a3d4286'
export const SALT_KEY = 'salt-of-the-tests-0f4d1b7a93'

/** Loads what starts a gateway here: in workerd that takes seconds, once. */
export const loadGateway = () =>
  globalThis.navigator?.userAgent === 'Cloudflare-Workers'
    ? import('./gateway-workerd.ts')
    : import('./gateway.node.ts')

/** Starts a gateway from the text of a configuration file, with the store inside the process. */
export async function startGateway(yaml: string): Promise<TestGateway> {
  const env = { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: SALT_KEY }
  const { start } = await loadGateway()
  return start(yaml, env)
}

/** A configuration whose deployments are all at the scripted upstream, each under its own model name there. */
export function configOf(upstreamUrl: string, groups: Record<string, readonly string[]>, more = ''): string {
  const entries = Object.entries(groups).flatMap(([group, models]) =>
    models.map(
      (model) =>
        `  - model_name: ${group}\n    deployment_id: ${model}\n    gateway_params:\n      model: openai-compatible/${model}\n      api_base: ${upstreamUrl}/v1\n      api_key: sk-upstream-canary-91c2\n`,
    ),
  )
  return `${more}\nmodel_list:\n${entries.join('')}`
}

export function chatInit(body: unknown, init: RequestInit = {}): RequestInit {
  return {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string> | undefined) },
  }
}
