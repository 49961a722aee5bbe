import { digestOf } from '../../lib/crypto.ts'
import { GatewayError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { asList, asRecord, isRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { answerKey, clearedKey, leadKey } from '../../stores/kv/keys.ts'
import type { CallInput } from '../call-input.ts'
import { type Caller, tenantOf } from '../caller.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Bounds, Plan } from '../plan/plan.ts'
import type { Written } from '../request/written-request.ts'
import type { PipelineServices } from '../services.ts'
import type { ManagedTools } from '../tools/managed-tools.ts'
import { settingsOf } from '../translate/dialect.ts'
import type { CacheUse } from './cache-use.ts'

/** Digests of another form of the key must not meet. */
const FORM = 1

/** A longer list of inputs has one answer as a whole. */
const MOST_INPUTS = 128

/** A planned request, as far as its use of the cache depends on it. */
interface Asked extends Written {
  readonly plan: Plan
  readonly bounds: Bounds
  readonly tools: ManagedTools | undefined
}

/** How the call uses the cache; undefined if it does not. Throws `invalid_request` for a wish that does not exist. */
export function planCache(
  { config: { general_settings }, responses }: PipelineServices,
  input: CallInput,
  caller: Caller,
  { request, bytes, plan: { group }, bounds, tools }: Asked,
): CacheUse | undefined {
  const { cache_enabled, cache_ttl, cache_nondeterministic } = general_settings
  const { endpoint, batch, explain, form } = input
  if (!cache_enabled || !endpoint.cached || batch || explain || form) return undefined
  const wish = wishOf(request, input.cacheControl)
  if (wish.mode === 'no-store' || bounds.ids || tools || actsOutside(request)) return undefined
  const { temperature } = settingsOf(endpoint.dialect, request)
  const varies = typeof temperature === 'number' && temperature > 0
  if (varies && wish.mode !== 'force' && !cache_nondeterministic) return undefined
  const inputs = endpoint.cached === 'inputs' ? inputsOf(request.input) : undefined
  const body = canonicalJson(decoder.decode(bytes), inputs ? EACH_INPUT : WHOLE)
  if (body === undefined) return undefined

  const scope = cacheScope(caller)
  // Objects that the provider keeps belong to a narrower tenant, and so does an answer that names them.
  const keepsIds = mayBeKept(endpoint, request)
  // An answer must not outlive what its id stands for.
  const idsLive = responses.retentionSeconds ?? Number.POSITIVE_INFINITY
  const owner = keepsIds ? tenantOf(caller).name : ''
  const headers = Object.entries(input.clientHeaders ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
  const asked = [
    FORM,
    scope,
    owner,
    endpoint.path,
    group.name,
    request.stream === true,
    bounds.restricted,
    bounds.strict,
    headers,
  ]
  const common = `${JSON.stringify(asked)}${body}`
  const digests = inputs ? inputs.map((one) => digestOf(`${common}${JSON.stringify(one)}`)) : [digestOf(common)]
  return {
    answers: digests.map(answerKey),
    lead: leadKey(inputs ? digestOf(digests.join()) : (digests[0] as string)),
    clearings: ['', scope].flatMap((where) => ['', group.name].map((model) => clearedKey(where, model))),
    looks: wish.mode !== 'no-cache',
    ttlSeconds: Math.min(wish.ttlSeconds ?? cache_ttl, cache_ttl, keepsIds ? idsLive : Number.POSITIVE_INFINITY),
    keepsIds,
    inputs,
  }
}

// Not fatal: what is no text was refused as no JSON.
const decoder = new TextDecoder()

/** What is no part of the key as it is written: the group stands for the model, a flag for the stream. */
const WHOLE: ReadonlySet<string> = new Set(['model', 'stream', 'metadata.cache'])
const EACH_INPUT: ReadonlySet<string> = new Set([...WHOLE, 'input'])

/** The tenant within which answers are shared: the organization, else the key, else the person. */
function cacheScope({ kind, organizationId, keyId, userId }: Caller): string {
  if (organizationId !== undefined) return `organization:${organizationId}`
  if (keyId !== undefined) return `api_key:${keyId}`
  return userId === undefined ? kind : `user:${userId}`
}

interface Wish {
  readonly mode?: 'no-cache' | 'no-store' | 'force'
  readonly ttlSeconds?: number
}

const MODES = ['no-cache', 'no-store', 'force'] as const

/** The client's wish: in `metadata.cache`, else in its `Cache-Control`. */
function wishOf({ metadata }: ModelRequest, cacheControl = ''): Wish {
  const said: unknown = metadata?.cache
  if (said === undefined || said === null) {
    const directives = cacheControl
      .toLowerCase()
      .split(',')
      .map((one) => one.trim())
    if (directives.includes('no-store')) return { mode: 'no-store' }
    return directives.includes('no-cache') || directives.includes('max-age=0') ? { mode: 'no-cache' } : {}
  }
  const mode = MODES.find((one) => one === said)
  if (mode) return { mode }
  const { ttl } = asRecord(said)
  if (typeof ttl === 'number' && ttl > 0) return { ttlSeconds: ttl }
  const message = `metadata.cache: expected ${MODES.map((one) => `'${one}'`).join(', ')} or {"ttl": seconds}.`
  throw new GatewayError('invalid_request', message, { param: 'metadata.cache' })
}

/** Whether the answer depends on more than the request: on a conversation that a provider keeps, or on servers of
 *  tools, where asking is doing. */
function actsOutside(request: ModelRequest): boolean {
  if (isGiven(request.previous_response_id) || isGiven(request.conversation) || request.background === true) return true
  if (isGiven(request.container) || asList(request.mcp_servers).length > 0) return true
  return asList(request.tools).some((tool) => isRecord(tool) && String(tool.type).startsWith('mcp'))
}

const isGiven = (value: unknown) => value !== undefined && value !== null

/** Whether a provider may keep an object of this call under an id. */
function mayBeKept({ dialect }: Endpoint, { store }: ModelRequest): boolean {
  return dialect?.native === 'responses' ? store !== false : store === true
}

/** The texts of an embedding call, if each can have an answer of its own. */
function inputsOf(input: unknown): readonly string[] | undefined {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input) || input.length > MOST_INPUTS) return undefined
  return input.every((one) => typeof one === 'string') ? (input as string[]) : undefined
}
