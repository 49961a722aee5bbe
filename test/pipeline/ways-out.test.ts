import { afterAll, afterEach, describe, expect, inject, it, vi } from 'vitest'
import { audioTranscriptions } from '../../src/api/v1/audio-transcriptions.ts'
import { chatCompletions } from '../../src/api/v1/chat-completions.ts'
import { masterCaller } from '../../src/identity/master-caller.ts'
import { type Aborter, newAbort } from '../../src/lib/abort.ts'
import { GatewayError } from '../../src/lib/errors.ts'
import { jsonLog } from '../../src/lib/log.ts'
import type { Caller } from '../../src/pipeline/caller.ts'
import { type Client, clientClosed } from '../../src/pipeline/client.ts'
import { incomingForm } from '../../src/pipeline/request/incoming-form.ts'
import { runCall } from '../../src/pipeline/run-call.ts'
import { type Translator, translatorOf } from '../../src/pipeline/translate/translator.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { createServices, type Services } from '../../src/services.ts'
import { inProcessStore } from '../../src/stores/kv/in-process.ts'
import { redisTcpStore } from '../../src/stores/kv/redis-tcp.node.ts'
import type { Admission, SharedStore } from '../../src/stores/kv/shared-store.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'
import { configuration, deployment } from '../support/configuration.ts'
import { MASTER_KEY, SALT_KEY } from '../support/gateway.ts'
import { keptRecords } from '../support/kept-records.ts'
import { noBlobs, noHasher, noQueue, noSql } from '../support/nothing.ts'
import { answer, cutAfter, serverError, silence, slowBetween } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const redisUrl = inject('redisUrl')
const transport = undiciTransport()
const LIMIT_NANO = 1_000_000_000
const footprint = { add() {}, release() {} }
const oops = () => {
  throw new TypeError('something of ours')
}
const oopsLater = async () => oops()

const STORES: Record<string, (prefix: string) => SharedStore> = {
  'inside the process': () => inProcessStore({ now: Date.now }),
  ...(redisUrl && { 'in Redis': (prefix: string) => redisTcpStore({ url: redisUrl, prefix }) }),
}
const stores: SharedStore[] = []
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await transport.close()
})

/** One call on its own, whose every part can be made to throw. */
interface Scene {
  readonly services: Services
  readonly store: SharedStore
  readonly first: string
  readonly second: string
  readonly client: Client & { readonly signal: Aborter<unknown> }
  begun: () => void
  stream: boolean
  explain: boolean
}

let serial = 0
const name = () => `ways-out-${Date.now()}-${serial++}`

async function scene(makeStore: (prefix: string) => SharedStore, cooled: boolean) {
  const id = name()
  const [first, second, fallback] = [`${id}-first`, `${id}-second`, `${id}-fallback`]
  const store = makeStore(`${id}:`)
  stores.push(store)
  const yaml = configuration({
    general_settings: { log_level: 'error' },
    router_settings: {
      routing_strategy: 'priority-based-routing',
      num_retries: 1,
      retry_after: 0.2,
      cooldown_time: cooled ? 30 : 0,
    },
    gateway_settings: { fallbacks: [{ [id]: [fallback] }] },
    model_list: [
      deployment(upstream.url, id, first, { priority: 0, supports_assistant_prefix: true }),
      deployment(upstream.url, id, second, { priority: 1, supports_assistant_prefix: true }),
      deployment(upstream.url, fallback, fallback),
    ],
  })
  const config = loadConfig(yaml, { GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: SALT_KEY })
  const services = {
    ...createServices(config, {
      store,
      sql: noSql,
      blobs: noBlobs,
      queue: noQueue,
      transport: { ...transport },
      passwordHasher: noHasher,
      log: jsonLog('error', () => {}),
      counting: 'process',
      callersKept: 10,
      memoryBytes: 1e9,
      delivering: () => keptRecords().delivery,
      draining: () => false,
    }),
    budgets: { spent: async (of: readonly unknown[]) => of.map(() => 0) },
  }
  const works: Promise<unknown>[] = []
  const written: Uint8Array[] = []
  const signal = newAbort<unknown>()
  const client: Scene['client'] = {
    signal,
    address: '',
    defer: (work) => void works.push(work),
    body: async () => new Uint8Array(),
    upload: () => ({ length: undefined, read: async () => undefined, close() {} }),
    ended() {},
    openStream: () => ({
      readable: new ReadableStream(),
      write: (bytes) => void written.push(bytes),
      close: async () => {},
      abort() {},
    }),
  }
  if (cooled) {
    // Its cooldown is over: the next call is its probe.
    const outcome = { attemptId: 'earlier', deployment: first, result: 'failed', used: {} } as const
    const cooldown = { allowedFails: 0, seconds: 0.001 }
    const nothing = { slots: [], budgets: [], counters: {}, entries: [] }
    await store.settle({ callId: 'earlier', outcomes: [{ ...outcome, cooldown }], ...nothing })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const caller: Caller = {
    ...masterCaller,
    kind: 'api_key',
    keyId: 'x',
    slots: [{ scope: 'key_parallel_requests', subject: 'key:x', limit: 1 }],
    accounts: [
      {
        scope: 'key_budget',
        subject: 'key:x',
        model: undefined,
        since: '2026-01-01T00:00:00.000Z',
        limitNano: LIMIT_NANO,
        softNano: LIMIT_NANO,
        periodAt: () => '',
        resetsAt: () => undefined,
      },
    ],
  }
  const own: Scene = { services, store, first, second, client, begun() {}, stream: false, explain: false }

  /** Runs it to its end: also what it has left to the runtime. */
  async function run(form?: { readonly pieces: readonly Uint8Array[] }): Promise<string> {
    const { endpoint } = form ? audioTranscriptions : chatCompletions
    const body = { model: id, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10, stream: own.stream }
    const pieces = [...(form?.pieces ?? [])]
    const read = async () => pieces.shift() ?? Promise.reject(clientClosed())
    client.upload = () => ({ length: undefined, read, close() {} })
    const type = 'multipart/form-data; boundary=x'
    const input = {
      requestId: id,
      arrivedAt: performance.now(),
      caller,
      address: '',
      client,
      endpoint,
      bytes: form ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body)),
      form: form && incomingForm(client, endpoint.mode, type, { limitBytes: 1_000_000, footprint }),
      clientHeaders: undefined,
      hops: 0,
      footprint,
      explain: own.explain,
      begun: () => own.begun(),
    }
    const ended = await runCall(services, input).then(
      () => 'answered',
      (error) => (error instanceof GatewayError ? error.failure : 'internal'),
    )
    for (let seen = -1; seen < works.length; ) {
      seen = works.length
      await Promise.allSettled(works)
    }
    return ended
  }

  /** What is left of it: nothing in flight, nothing held, the slot free, and as many requests as upstreams were asked. */
  async function left() {
    const signals = await store.signals([first, second, fallback])
    const asked = await Promise.all([first, second, fallback].map(async (one) => (await upstream.calls(one)).length))
    const again: Admission = {
      callId: `${id}-after`,
      attemptId: `${id}-after`,
      versions: [],
      quotas: [],
      tokens: 0,
      slots: caller.slots,
      budgets: [{ scope: '', subject: 'key:x', limitNano: LIMIT_NANO, holdNano: 0, period: '', seedNano: 0 }],
      candidates: [],
      leaseSeconds: 1,
    }
    const answer = await store.admit(again)
    const [spent = 0] = answer.kind === 'admitted' ? answer.spentNano : []
    const whole = { ...again, callId: `${id}-whole`, slots: [] }
    const room = await store.admit({
      ...whole,
      budgets: again.budgets.map((budget) => ({ ...budget, holdNano: LIMIT_NANO - spent })),
    })
    return {
      active: signals.map(({ active }) => active),
      probing: signals.map(({ probing }) => probing),
      requests: signals.map(({ used }) => used.requests ?? 0),
      asked,
      slot: answer.kind,
      room: room.kind,
    }
  }
  return { ...own, own, run, left, id }
}

type Made = Awaited<ReturnType<typeof scene>>

const deploymentOf = ({ services, id }: Made) => {
  const made = services.registry.resolve(id)?.deployments[0]
  if (!made) throw new Error('no deployment')
  return made
}
/** Makes one step of a translation go wrong. Its object is everybody's: it is put back. */
function wrong(made: Made, step: 'request' | 'reply' | 'stream', how: () => never): void {
  const { mode, dialect } = chatCompletions.endpoint
  const translator = translatorOf(deploymentOf(made), mode, dialect)
  vi.spyOn(translator as Required<Translator>, step).mockImplementation(how)
}
function authorizing(made: Made, authorize: (signal: AbortSignal) => Promise<never>): () => void {
  const { provider } = deploymentOf(made)
  Object.assign(provider, {
    authorize: (_: unknown, __: unknown, { signal }: { signal: AbortSignal }) => authorize(signal),
  })
  return () => Reflect.deleteProperty(provider, 'authorize')
}
/** Something that happens while the store is asked, behind its decision. */
function behind({ store }: Made, verb: 'admit' | 'startAttempt', what: () => void): void {
  const asked = store[verb] as (input: unknown) => Promise<unknown>
  const spy = vi.spyOn(store as Record<typeof verb, typeof asked>, verb)
  spy.mockImplementation(async (input) => {
    const answer = await asked(input)
    what()
    return answer
  })
}
const leaves =
  ({ client }: Made) =>
  () =>
    client.signal.abort(clientClosed())

interface Way {
  readonly name: string
  readonly script?: Parameters<typeof upstream.script>[1]
  readonly streamed?: true
  readonly form?: true
  /** Makes it go wrong; returns what puts right what is not a spy. */
  prepare(made: Made): unknown
  readonly ends: string
  /** How often each deployment was to be asked. */
  readonly requests: readonly [number, number, number]
  /** Where not all of these have reached their upstream. */
  readonly reached?: readonly [number, number, number]
}

const words = answer({ text: 'one two three' })
const none = [0, 0, 0] as const
const once = [1, 0, 0] as const

const WAYS: readonly Way[] = [
  { name: 'nothing goes wrong', prepare() {}, ends: 'answered', requests: once },
  { name: 'nothing goes wrong in a stream', streamed: true, prepare() {}, ends: 'answered', requests: once },
  {
    name: 'the client leaves between admission and the first attempt',
    prepare: (made) => behind(made, 'admit', leaves(made)),
    ends: 'client_closed',
    requests: none,
  },
  {
    name: 'a look at the budgets throws',
    prepare: ({ services }) => vi.spyOn(services.budgetNotices, 'passed').mockImplementation(oops),
    ends: 'internal',
    requests: none,
  },
  {
    name: 'the runtime takes no work any more',
    prepare: ({ client }) => vi.spyOn(client, 'defer').mockImplementationOnce(oops),
    ends: 'internal',
    requests: none,
  },
  {
    name: 'whoever hears that the call has begun throws',
    prepare(made) {
      made.own.begun = oops
    },
    ends: 'internal',
    requests: none,
  },
  {
    name: 'the walk over the deployments throws',
    prepare: (made) => behind(made, 'admit', () => vi.spyOn(Array.prototype, 'findIndex').mockImplementationOnce(oops)),
    ends: 'internal',
    requests: none,
  },
  {
    name: 'a translator throws on the request',
    prepare: (made) => wrong(made, 'request', oops),
    ends: 'internal',
    requests: none,
  },
  {
    name: 'a request cannot be authorized',
    prepare: (made) => authorizing(made, oopsLater),
    ends: 'upstream_malformed',
    requests: none,
  },
  {
    name: 'the place where tokens are minted is down',
    prepare: (made) =>
      authorizing(made, async () => {
        throw new GatewayError('upstream_unreachable', 'No token.')
      }),
    ends: 'upstream_unreachable',
    requests: none,
  },
  {
    name: 'the client leaves while a token is minted',
    prepare: (made) =>
      authorizing(made, (signal) => {
        setTimeout(leaves(made), 5)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    ends: 'client_closed',
    requests: none,
  },
  {
    name: 'the transport throws',
    prepare: ({ services }) => vi.spyOn(services.transport, 'send').mockImplementation(oops),
    ends: 'upstream_malformed',
    requests: [1, 1, 2],
    reached: none,
  },
  {
    name: 'a translator throws on the answer',
    prepare: (made) => wrong(made, 'reply', oops),
    ends: 'upstream_malformed',
    requests: [1, 1, 2],
  },
  {
    name: 'a translator throws on a stream',
    streamed: true,
    prepare: (made) => wrong(made, 'stream', oops),
    ends: 'upstream_malformed',
    requests: [1, 1, 2],
  },
  {
    name: 'an answer that has come cannot be opened',
    streamed: true,
    prepare: ({ client }) => vi.spyOn(client, 'openStream').mockImplementation(oops),
    ends: 'internal',
    requests: once,
  },
  {
    name: 'the store does not start a second attempt',
    script: [serverError()],
    prepare: ({ store }) => vi.spyOn(store, 'startAttempt').mockImplementation(oopsLater),
    ends: 'internal',
    requests: once,
  },
  {
    name: 'the client leaves while a second attempt is started',
    script: [serverError()],
    prepare: (made) => behind(made, 'startAttempt', leaves(made)),
    ends: 'client_closed',
    requests: once,
  },
  {
    name: 'the client leaves in the pause before a second attempt',
    script: [serverError()],
    prepare(made) {
      vi.spyOn(made.services, 'random').mockReturnValue(1)
      const failed = upstream.until(made.first, ([call]) => call?.outcome === 'finished')
      failed.then(() => setTimeout(leaves(made), 50))
    },
    ends: 'client_closed',
    requests: once,
  },
  {
    name: 'the client leaves while an answer is awaited',
    script: [silence()],
    prepare: (made) => upstream.until(made.first, (calls) => calls.length === 1).then(leaves(made)),
    ends: 'client_closed',
    requests: once,
  },
  {
    name: 'the client leaves in the middle of a stream',
    streamed: true,
    script: [answer({ text: 'one two three four five' }, slowBetween({ ms: 100 }))],
    prepare: (made) => upstream.until(made.first, ([call]) => (call?.writes ?? 0) > 2).then(leaves(made)),
    ends: 'answered',
    requests: once,
  },
  {
    name: 'who looks for somebody to finish a broken answer throws',
    streamed: true,
    script: [answer({ text: 'one two three four five' }, slowBetween({ ms: 100 }), cutAfter({ frames: 3 }))],
    prepare: (made) =>
      upstream
        .until(made.first, (calls) => calls.length === 1)
        .then(() => vi.spyOn(made.services.registry, 'resolve').mockImplementation(oops)),
    ends: 'answered',
    requests: once,
  },
  {
    name: 'the store does not start the attempt that was to finish a broken answer',
    streamed: true,
    script: [answer({ text: 'one two three four five' }, cutAfter({ frames: 3 }))],
    prepare: ({ store }) => vi.spyOn(store, 'startAttempt').mockImplementation(oopsLater),
    ends: 'answered',
    requests: once,
  },
  {
    name: 'who reports the call throws',
    prepare: ({ services }) => vi.spyOn(services.telemetry, 'emit').mockImplementation(oops),
    ends: 'answered',
    requests: once,
  },
  {
    name: 'the counters that are settled with it throw',
    prepare: ({ services }) => vi.spyOn(services.telemetry, 'settledCounters').mockImplementation(oops),
    ends: 'answered',
    requests: once,
  },
  {
    name: 'its explanation throws',
    prepare(made) {
      made.own.explain = true
      vi.spyOn(made.store, 'signals').mockImplementationOnce(oopsLater)
    },
    ends: 'answered',
    requests: once,
  },
  {
    name: 'the client breaks its upload off',
    form: true,
    prepare() {},
    ends: 'client_closed',
    requests: once,
    reached: none,
  },
]

const FORM = [
  '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nMODEL',
  '\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nbytes',
]

describe.each(Object.entries(STORES))('with the store %s', (_, makeStore) => {
  describe.each([
    ['one that is well', false],
    ['one that is being probed', true],
  ])('of %s', (_, cooled) => {
    it.each(WAYS.map((way) => [way.name, way] as const))('nothing is left where %s', async (_, way) => {
      const made = await scene(makeStore, cooled)
      await upstream.script(made.first, way.script ?? [words])
      for (const one of [made.second, `${made.id}-fallback`]) await upstream.script(one, [words])
      made.own.stream = way.streamed === true
      const prepared = way.prepare(made)
      const form = way.form && {
        pieces: FORM.map((text) => new TextEncoder().encode(text.replace('MODEL', made.id))),
      }
      const ended = await made.run(form)
      vi.restoreAllMocks()
      if (typeof prepared === 'function' && !('mock' in prepared)) (prepared as () => void)()
      expect(ended).toBe(way.ends)
      expect(await made.left()).toEqual({
        active: [0, 0, 0],
        probing: [false, false, false],
        requests: way.requests,
        asked: way.reached ?? way.requests,
        slot: 'admitted',
        room: 'admitted',
      })
      for (const id of [made.first, made.second]) {
        await upstream.until(id, (calls) => calls.every(({ outcome }) => outcome !== 'running'))
      }
    })
  })
})
