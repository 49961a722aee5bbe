import { chatDialect } from '../../src/api/dialects/chat.ts'
import { type Abort, newAbort } from '../../src/lib/abort.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import { jsonLog } from '../../src/lib/log.ts'
import { separateTimers } from '../../src/lib/timers/timers.ts'
import { accountsOf } from '../../src/limits/accounts.ts'
import type { LimitedScope } from '../../src/limits/limited-scope.ts'
import { mcpToolServers } from '../../src/mcp/mcp-tool-servers.ts'
import type { ToolServers } from '../../src/mcp/tool-servers.ts'
import { chat } from '../../src/modes/chat.ts'
import { asMode } from '../../src/modes/mode.ts'
import { budgetNotices } from '../../src/pipeline/admit/budget-notices.ts'
import { storeClock } from '../../src/pipeline/admit/store-clock.ts'
import { usualUsage } from '../../src/pipeline/admit/usual-usage.ts'
import type { BatchMark } from '../../src/pipeline/batch-mark.ts'
import { flights } from '../../src/pipeline/cache/flights.ts'
import type { Caller } from '../../src/pipeline/caller.ts'
import type { Client } from '../../src/pipeline/client.ts'
import type { Endpoint } from '../../src/pipeline/endpoint.ts'
import { keptResponses } from '../../src/pipeline/memory/kept-responses.ts'
import { runCall } from '../../src/pipeline/run-call.ts'
import type { PipelineServices } from '../../src/pipeline/services.ts'
import { providers } from '../../src/providers/index.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { knownSignals } from '../../src/routing/known-signals.ts'
import { registryFrom } from '../../src/routing/registry.ts'
import type { RouteGroup } from '../../src/routing/route-group.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import type { SharedStore } from '../../src/stores/kv/shared-store.ts'
import type { CallFinished, TelemetryEvent } from '../../src/telemetry/events.ts'
import type { Transport, UpstreamRequest } from '../../src/transport/transport.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { registryOf } from './registry.ts'

/** What a provider does with a call. The last message of the call says it, as JSON. */
export interface Deed {
  readonly input?: number
  readonly output?: number
  /** It writes more than it was allowed. */
  readonly rude?: boolean
  readonly ms?: number
  readonly status?: number
  /** Only places whose names begin so answer with this status. */
  readonly failsAt?: string
  /** A stream that breaks off behind so many words; the next one who is asked goes on. */
  readonly cutAfter?: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A provider of OpenAI's shape inside the process. */
function provider(asked: { readonly origin: string; readonly body: Record<string, unknown> }[]): Transport {
  return {
    async send(request: UpstreamRequest, signal) {
      const sent = wholeBody(request.body)
      const body = JSON.parse(typeof sent === 'string' ? sent : decoder.decode(sent))
      asked.push({ origin: request.origin, body })
      const said = [...body.messages].reverse().find(({ role }: { role: string }) => role === 'user')
      const deed = JSON.parse(said.content) as Deed
      if (deed.ms !== undefined) {
        await new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, deed.ms)
          signal.addEventListener('abort', () => {
            clearTimeout(timer)
            reject(signal.reason)
          })
        })
      }
      const limit = body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY
      const wanted = (deed.output ?? 0) * (body.n ?? 1)
      const usage = {
        prompt_tokens: deed.input ?? 0,
        completion_tokens: deed.rude ? wanted : Math.min(wanted, limit * (body.n ?? 1)),
      }
      const fails = deed.failsAt === undefined || request.origin.startsWith(`https://${deed.failsAt}`)
      const status = fails ? (deed.status ?? 200) : 200
      const continues = body.messages.at(-1).role === 'assistant'
      const cut = deed.cutAfter !== undefined && !continues
      const text = body.stream ? streamOf(usage, cut ? deed.cutAfter : undefined) : whole(body.model, usage, status)
      const bytes: (Uint8Array | undefined)[] = [encoder.encode(text)]
      return {
        status,
        headers: { 'content-type': body.stream && status === 200 ? 'text/event-stream' : 'application/json' },
        body: { read: async () => bytes.shift(), bytes: async () => bytes.shift() ?? new Uint8Array(), cancel() {} },
      }
    },
  }
}

function whole(model: string, usage: object, status: number): string {
  if (status !== 200) return JSON.stringify({ error: { message: 'no' } })
  const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }]
  return JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model, choices, usage })
}

function streamOf(usage: object, cutAfter: number | undefined): string {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const event = (more: object) => `data: ${JSON.stringify({ ...chunk, ...more })}\n\n`
  const words = Array.from({ length: cutAfter ?? 2 }, (_, at) =>
    event({ choices: [{ index: 0, delta: { role: 'assistant', content: `word${at} ` }, finish_reason: null }] }),
  ).join('')
  if (cutAfter !== undefined) return words
  return `${words}${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${event({ choices: [], usage })}data: [DONE]\n\n`
}

export const CHAT: Endpoint = {
  path: '/v1/chat/completions',
  mode: asMode(chat),
  dialect: chatDialect,
  errorEvent: chatDialect.errorEvent,
}

const NO_LIMITS = { rpm_limit: null, tpm_limit: null, rph_limit: null, rpd_limit: null, tpd_limit: null }
const NO_MONEY = {
  max_budget: null,
  soft_budget: null,
  budget_duration: null,
  budget_started_at: '2026-01-01T00:00:00.000Z',
}

type Money = Partial<Pick<LimitedScope, 'max_budget' | 'soft_budget' | 'model_max_budget'>>

/** A place at the provider inside the process. */
export const placed = (model_name: string, deployment_id: string, model_info: object) => ({
  model_name,
  deployment_id,
  gateway_params: { model: `openai-compatible/${deployment_id}`, api_base: `https://${deployment_id}.test/v1` },
  model_info,
})

/** The pipeline over a store, without HTTP and without a database: for many calls at once. */
export function budgetedCalls(
  config: object,
  options: {
    readonly store?: SharedStore
    readonly groups?: readonly RouteGroup[]
    /** Instead of the provider inside the process. */
    readonly transport?: Transport
    readonly toolServers?: ToolServers
  } = {},
) {
  const { store = inProcessStore({ now: Date.now }), groups = [] } = options
  const read = loadConfig(JSON.stringify(config), {})
  const plain = registryOf(read, providers)
  const deployments = plain.groups.flatMap((group) => group.deployments)
  const registry = registryFrom(deployments, read.router_settings.model_group_alias, groups, undefined, {
    toolServers: plain.toolServers,
  })
  const finished: CallFinished[] = []
  const emitted: TelemetryEvent[] = []
  const asked: { readonly origin: string; readonly body: Record<string, unknown> }[] = []
  const log = jsonLog('silent', () => {})
  const telemetry: PipelineServices['telemetry'] = {
    emit: (event) => {
      emitted.push(event)
      if (event.type === 'call.finished') finished.push(event)
    },
    settledCounters: () => ({}),
  }
  const transport = options.transport ?? provider(asked)
  const services: PipelineServices = {
    config: read,
    registry,
    promptVersions: { held: () => undefined, load: async () => undefined },
    signals: knownSignals(Date.now),
    store,
    budgets: { spent: async (of) => of.map(() => 0) },
    budgetNotices: budgetNotices({ records: { tell: async () => true }, telemetry, now: Date.now, log }),
    usual: usualUsage(Date.now),
    transport,
    toolServers:
      options.toolServers ?? mcpToolServers({ transport, timers: separateTimers, gateway: 'test', now: Date.now, log }),
    responses: keptResponses(store, undefined, read.general_settings),
    telemetry,
    flights: flights(store, separateTimers),
    flushCounters() {},
    content: { open: () => undefined },
    clock: { now: Date.now },
    storeClock: storeClock({ now: Date.now }),
    timers: separateTimers,
    log,
    random: Math.random,
  }
  const deferred: Promise<unknown>[] = []
  let serial = 0

  /** A caller with money of its own at some levels. */
  function caller(levels: Partial<Record<LimitedScope['level'], Money>>): Caller {
    const scopes = Object.entries(levels).map(([level, money]) => ({
      level: level as LimitedScope['level'],
      id: crypto.randomUUID(),
      ...NO_LIMITS,
      ...NO_MONEY,
      ...money,
    }))
    const self: Caller = {
      kind: 'api_key',
      keyId: 'k',
      userId: undefined,
      teamId: undefined,
      organizationId: undefined,
      quotas: [],
      slots: [],
      accounts: scopes.flatMap(accountsOf),
      mayCall: () => true,
      mayUseServer: () => true,
      restricted: false,
      versions: [],
      remembered: [],
      readAt: Date.now(),
      confirmedAt: Date.now(),
      again: async () => self,
      confirmed: async () => self,
    }
    return self
  }

  /** The status, or the scope that refused. */
  async function ask(
    from: Caller,
    body: object,
    deed: Deed = {},
    endpoint = CHAT,
    { signal = newAbort<GatewayError>(), batch }: { readonly signal?: Abort; readonly batch?: BatchMark } = {},
  ) {
    const requestId = `request-${++serial}`
    const request = { model: 'm', messages: [{ role: 'user', content: JSON.stringify(deed) }], ...body }
    const client: Client = {
      signal,
      address: '',
      defer: (work) => void deferred.push(work.catch(() => {})),
      body: async () => new Uint8Array(),
      ended() {},
      upload: () => {
        throw new TypeError('nothing is uploaded here')
      },
      openStream() {
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 1e6 })
        const writer = writable.getWriter()
        return {
          readable,
          write: (bytes) => void writer.write(bytes).catch(() => {}),
          close: () => writer.close(),
          abort: () => void writer.abort().catch(() => {}),
        }
      },
    }
    try {
      const answer = await runCall(services, {
        requestId,
        arrivedAt: performance.now(),
        caller: from,
        address: '',
        client,
        footprint: { add() {}, release() {} },
        endpoint,
        hops: 0,
        bytes: encoder.encode(JSON.stringify(request)),
        begun() {},
        batch,
      })
      const text = await new Response(answer.body as BodyInit).text()
      return { requestId, status: answer.status, text, deployment: answer.headers['x-gateway-deployment'] }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return { requestId, status: error.status, text: error.message, param: error.details.param }
    }
  }

  return {
    services,
    finished,
    emitted,
    /** What the provider was asked. */
    asked,
    caller,
    ask,
    spentNano: () => finished.reduce((sum, { costNano }) => sum + (costNano ?? 0), 0),
    /** Everything that calls left to be done is done. */
    async idle() {
      while (deferred.length > 0) await Promise.all(deferred.splice(0))
    },
  }
}
