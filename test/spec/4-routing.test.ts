import { beforeEach, describe, expect, inject, it } from 'vitest'
import { configuration, deployment, echo, type Sections } from '../support/configuration.ts'
import {
  answer,
  badRequest,
  contentFiltered,
  contextWindowExceeded,
  rateLimited,
  serverError,
  silence,
} from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const gateway = withGateway()
let serial = 0
/** Deployment ids of one test alone, so that scripts and calls of tests never meet. */
let a: string
let b: string

beforeEach(() => {
  serial += 1
  a = `routing-${serial}-a`
  b = `routing-${serial}-b`
})

async function start(sections: Sections): Promise<void> {
  await gateway.restart(configuration(sections))
}

/** One call, settled. */
async function call(model = 'group', more: object = {}) {
  const response = await gateway.chat({ model, messages: [{ role: 'user', content: 'Hello' }], ...more })
  const body = (await response.json()) as { error?: { code: string; param: string | null } }
  await gateway.idle()
  return {
    status: response.status,
    served: response.headers.get('x-gateway-deployment'),
    attempts: Number(response.headers.get('x-gateway-attempts')),
    retryAfter: Number(response.headers.get('retry-after')),
    code: body.error?.code,
  }
}

const servedBy = async (calls: number) => {
  const served: (string | null)[] = []
  for (let index = 0; index < calls; index++) served.push((await call()).served)
  return served
}
const askedOf = async (id: string) => (await upstream.calls(id)).length
const pair = (infoA: object = {}, infoB: object = {}) => [
  deployment(upstream.url, 'group', a, infoA),
  deployment(upstream.url, 'group', b, infoB),
]
const byPriority = { routing_strategy: 'priority-based-routing' }

describe('Routing behavior of proxy requests', () => {
  it('1. resolves the requested name, after `model_group_alias`, to a model group', async () => {
    await start({ router_settings: { model_group_alias: { friendly: 'group' } }, model_list: [echo('group', a)] })
    expect(await call('friendly')).toMatchObject({ status: 200, served: a })
    expect(await call('group')).toMatchObject({ status: 200, served: a })
    expect(await call('stranger')).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  it('2. removes unhealthy and cooled-down deployments', async () => {
    await start({
      router_settings: { ...byPriority, num_retries: 1 },
      model_list: pair({ priority: 0 }, { priority: 1 }),
    })
    await upstream.script(a, [serverError()])
    expect(await call()).toMatchObject({ status: 200, served: b, attempts: 2 })
    expect(await call()).toMatchObject({ status: 200, served: b, attempts: 1 })
    expect(await askedOf(a)).toBe(1)
  })

  it('3. when `metadata.tags` is present, keeps only deployments whose `model_info.tags` match', async () => {
    await start({ model_list: [echo('group', a, { tags: ['eu', 'cheap'] }), echo('group', b, { tags: ['eu'] })] })
    for (let index = 0; index < 12; index++) {
      expect(await call('group', { metadata: { tags: ['cheap', 'eu'] } })).toMatchObject({ status: 200, served: a })
    }
    const either = new Set<string | null>()
    for (let index = 0; index < 40; index++) either.add((await call('group', { metadata: { tags: ['eu'] } })).served)
    expect(either.size).toBe(2)
    const none = await call('group', { metadata: { tags: ['eu', 'us'] } })
    expect(none).toMatchObject({ status: 503, code: 'no_matching_deployment' })
  })

  it('4. when `enable_pre_call_checks` is true, skips deployments at or above their RPM limit', async () => {
    await start({
      router_settings: { ...byPriority, enable_pre_call_checks: true },
      model_list: pair({ priority: 0, rpm_limit: 2 }, { priority: 1 }),
    })
    expect(await servedBy(4)).toEqual([a, a, b, b])
  })

  it('4. … or TPM limit', async () => {
    await start({
      router_settings: { ...byPriority, enable_pre_call_checks: true },
      model_list: pair({ priority: 0, tpm_limit: 10 }, { priority: 1 }),
    })
    await upstream.script(a, [answer({ usage: { prompt_tokens: 6, completion_tokens: 3, total_tokens: 9 } })])
    // 9 tokens are below the limit, 18 are above it.
    expect(await servedBy(4)).toEqual([a, a, b, b])
  })

  it('5. picks one deployment with the active strategy', async () => {
    await start({ router_settings: byPriority, model_list: pair({ priority: 1 }, { priority: 0 }) })
    expect(await servedBy(3)).toEqual([b, b, b])
  })

  it('6. on a retryable failure retries, up to `num_retries` extra attempts, then falls back through the chain', async () => {
    await start({
      router_settings: { num_retries: 2, retry_after: 0.01, cooldown_time: 0 },
      gateway_settings: { fallbacks: [{ group: ['second', 'third'] }] },
      model_list: [
        deployment(upstream.url, 'group', a),
        deployment(upstream.url, 'second', b),
        deployment(upstream.url, 'third', `${b}-third`),
      ],
    })
    await upstream.script(a, [serverError()])
    await upstream.script(b, [serverError()])
    expect(await call()).toMatchObject({ status: 200, served: `${b}-third`, attempts: 7 })
    expect([await askedOf(a), await askedOf(b)]).toEqual([3, 3])
  })

  it('6. a failure that is not retryable is answered at once', async () => {
    await start({ router_settings: { num_retries: 2 }, model_list: pair() })
    await upstream.script(a, [badRequest()])
    await upstream.script(b, [badRequest()])
    expect(await call()).toMatchObject({ status: 400, attempts: 1 })
  })

  it('`timeout` is the maximum request time before the call counts as failed', async () => {
    await start({ router_settings: { timeout: 0.3 }, model_list: [deployment(upstream.url, 'group', a)] })
    await upstream.script(a, [silence()])
    const started = performance.now()
    expect(await call()).toMatchObject({ status: 504, code: 'upstream_timeout' })
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it('`retry_after` is the base delay before a retry of the same deployment', async () => {
    await start({
      router_settings: { num_retries: 4, retry_after: 0.1, cooldown_time: 0 },
      model_list: [deployment(upstream.url, 'group', a)],
    })
    await upstream.script(a, [serverError()])
    expect(await call()).toMatchObject({ status: 502, attempts: 5 })
    const starts = (await upstream.calls(a)).map(({ startedAt }) => startedAt)
    // Full jitter below 0.1, 0.2, 0.4 and 0.8 s.
    for (const [index, longest] of [100, 200, 400, 800].entries()) {
      expect((starts[index + 1] ?? 0) - (starts[index] ?? 0)).toBeLessThan(longest + 3000)
    }
    expect((starts[4] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(20)
  })
})

describe('Strategies (values of `routing_strategy`)', () => {
  it('simple-shuffle: random pick from the healthy pool, ignores weight', async () => {
    await start({ model_list: [echo('group', a, { weight: 0 }), echo('group', b, { weight: 1000 })] })
    expect(new Set(await servedBy(40))).toEqual(new Set([a, b]))
  })

  it('weighted: random pick, higher weight gets more traffic', async () => {
    const router_settings = { routing_strategy: 'weighted' }
    await start({ router_settings, model_list: [echo('group', a, { weight: 3 }), echo('group', b, { weight: 1 })] })
    const share = (await servedBy(600)).filter((id) => id === a).length / 600
    // 0.75 ± four and a half standard deviations.
    expect(share).toBeGreaterThan(0.67)
    expect(share).toBeLessThan(0.83)
  })

  it('priority-based-routing: tries priority 0 first, higher numbers only when the better pool is unavailable', async () => {
    await start({
      router_settings: { ...byPriority, num_retries: 1 },
      model_list: pair({ priority: 0 }, { priority: 5 }),
    })
    await upstream.script(a, [answer(), answer(), serverError()])
    expect(await servedBy(4)).toEqual([a, a, b, b])
  })

  it('least-busy: fewest in-flight requests', async () => {
    await start({ router_settings: { routing_strategy: 'least-busy', timeout: 2 }, model_list: pair() })
    await upstream.script(a, [silence()])
    await upstream.script(b, [silence()])
    const first = call()
    const awaited = async (calls: number) => {
      await expect.poll(async () => (await askedOf(a)) + (await askedOf(b))).toBe(calls)
    }
    await awaited(1)
    const second = call()
    await awaited(2)
    // Whichever was picked first was busy when the second call came.
    expect([await askedOf(a), await askedOf(b)]).toEqual([1, 1])
    await Promise.all([first, second])
  })

  it('latency-based-routing: prefers best recent latency; new or unsampled deployments stay eligible', async () => {
    await start({ router_settings: { routing_strategy: 'latency-based-routing' }, model_list: pair() })
    await upstream.script(a, [{ ...answer(), changes: [{ change: 'slowHeaders', options: { ms: 200 } }] }])
    const served = await servedBy(8)
    expect(served.slice(0, 2).sort()).toEqual([a, b])
    expect(served.slice(2)).toEqual([b, b, b, b, b, b])
  })

  it('cost-based-routing: lowest estimated unit cost for the request mode', async () => {
    const price = (dollars: number) => ({ input_cost_per_token: dollars, output_cost_per_token: dollars })
    await start({
      router_settings: { routing_strategy: 'cost-based-routing' },
      model_list: [echo('group', a, price(0.00002)), echo('group', b, price(0.00001)), echo('group', `${b}-unknown`)],
    })
    expect(new Set(await servedBy(10))).toEqual(new Set([b]))
  })

  it('usage-based-routing: lowest current RPM/TPM utilization', async () => {
    const router_settings = { routing_strategy: 'usage-based-routing' }
    const model_list = [echo('group', a, { rpm_limit: 10 }), echo('group', b, { rpm_limit: 1000 })]
    await start({ router_settings, model_list })
    // One call fills a tenth of the one, a hundred calls as much of the other.
    const served = await servedBy(30)
    expect(served.filter((id) => id === a)).toHaveLength(1)
  })

  it('rate-limit-aware: drops deployments near their RPM/TPM ceilings, then picks from the rest', async () => {
    const router_settings = { routing_strategy: 'rate-limit-aware' }
    await start({ router_settings, model_list: [echo('group', a, { rpm_limit: 10 }), echo('group', b)] })
    const served = await servedBy(80)
    // Nine of ten are not above 90 %; ten of ten are.
    expect(served.filter((id) => id === a)).toHaveLength(10)
  })

  it('tag-based-routing: same tag filter as all strategies, then weighted choice', async () => {
    const router_settings = { routing_strategy: 'tag-based-routing' }
    await start({
      router_settings,
      model_list: [
        echo('group', a, { tags: ['eu'], weight: 1 }),
        echo('group', b, { tags: ['eu'], weight: 0 }),
        echo('group', `${b}-us`, { tags: ['us'], weight: 1000 }),
      ],
    })
    for (let index = 0; index < 20; index++) {
      expect(await call('group', { metadata: { tags: ['eu'] } })).toMatchObject({ status: 200, served: a })
    }
  })
})

describe('Fallback chain use', () => {
  /** Every chain of `group` leads to an echo model of the chain's own name. */
  const chained = (router_settings: object = {}): Sections => ({
    router_settings: { cooldown_time: 0, ...router_settings },
    gateway_settings: {
      fallbacks: [{ group: ['any'] }],
      context_window_fallbacks: [{ group: ['long'] }],
      content_policy_fallbacks: [{ group: ['lenient'] }],
    },
    model_list: [
      deployment(upstream.url, 'group', a),
      echo('any', 'any'),
      echo('long', 'long'),
      echo('lenient', 'lenient'),
    ],
  })

  it.each([
    ['fallbacks: timeouts', silence(), 'any'],
    ['fallbacks: rate limits', rateLimited(), 'any'],
    ['fallbacks: provider errors', serverError(), 'any'],
    ['context_window_fallbacks: input too large', contextWindowExceeded(), 'long'],
    ['content_policy_fallbacks: provider policy rejection', contentFiltered(), 'lenient'],
  ])('%s', async (_, behaviour, target) => {
    const sections = chained()
    const model_list = [deployment(upstream.url, 'group', a, {}, { timeout: 0.3 }), ...sections.model_list.slice(1)]
    await start({ ...sections, model_list })
    await upstream.script(a, [behaviour])
    expect(await call()).toMatchObject({ status: 200, served: target, attempts: 2 })
  })

  it('a failure without a chain of its kind is answered, whatever other chains there are', async () => {
    await start({ ...chained(), gateway_settings: { fallbacks: [{ group: ['any'] }] } })
    await upstream.script(a, [contextWindowExceeded(), contentFiltered()])
    expect(await call()).toMatchObject({ status: 400, code: 'context_length_exceeded', attempts: 1 })
    expect(await call()).toMatchObject({ status: 400, code: 'content_policy_violation', attempts: 1 })
  })

  it('an ordered list of groups is tried in its order, each group once', async () => {
    await start({
      router_settings: { cooldown_time: 0 },
      gateway_settings: { fallbacks: [{ group: ['second', 'third'] }, { second: ['group'] }] },
      model_list: [
        deployment(upstream.url, 'group', a),
        deployment(upstream.url, 'second', b),
        deployment(upstream.url, 'third', `${b}-third`),
      ],
    })
    for (const id of [a, b, `${b}-third`]) await upstream.script(id, [serverError()])
    expect(await call()).toMatchObject({ status: 502, attempts: 3 })
    const starts = await Promise.all(
      [a, b, `${b}-third`].map(async (id) => (await upstream.calls(id))[0]?.startedAt ?? 0),
    )
    expect(starts).toEqual(starts.toSorted((one, other) => one - other))
  })
})
