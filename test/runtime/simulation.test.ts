import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment, echo, type Sections } from '../support/configuration.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const gateway = withGateway()

async function start(sections: Sections): Promise<void> {
  await gateway.restart(configuration(sections))
}

async function ask(body: object, name = 'group') {
  const response = await gateway.fetch(`/ui/api/route-groups/${name}/simulate`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  return { status: response.status, body: (await response.json()) as any }
}

interface Simulated {
  readonly deployment_id: string
  readonly chosen: number
  readonly share: number
  readonly eligible: boolean
  readonly reason: string
}

async function simulated(body: object): Promise<Record<string, Simulated>> {
  const answer = await ask(body)
  expect(answer.status).toBe(200)
  return Object.fromEntries(answer.body.deployments.map((one: Simulated) => [one.deployment_id, one]))
}

const fail = (id: string) =>
  gateway.store.settle({
    callId: `fail-${id}`,
    slots: [],
    budgets: [],
    counters: {},
    entries: [],
    outcomes: [
      {
        attemptId: `fail-${id}`,
        deployment: id,
        result: 'failed',
        error: 'timeout',
        used: {},
        cooldown: { allowedFails: 0, seconds: 30 },
      },
    ],
  })

describe('the simulation of a route group', () => {
  it('draws by the strategy that holds, says what that goes by, and calls nobody', async () => {
    const [a, b] = ['simulated-a', 'simulated-b']
    await start({
      router_settings: { routing_strategy: 'weighted' },
      model_list: [deployment(upstream.url, 'group', a, { weight: 3 }), deployment(upstream.url, 'group', b)],
    })
    const answer = await ask({ calls: 8000 })
    expect(answer.body).toMatchObject({ mode: 'chat', strategy: 'weighted', calls: 8000, unserved: 0 })
    const drawn = await simulated({ calls: 8000 })
    expect(drawn[a]).toMatchObject({ eligible: true, reason: 'weighted: weight 3' })
    expect(drawn[a]?.share).toBeCloseTo(0.75, 1)
    expect(drawn[b]?.share).toBeCloseTo(0.25, 1)
    expect((drawn[a]?.chosen ?? 0) + (drawn[b]?.chosen ?? 0)).toBe(8000)
    expect(await gateway.store.signals([a, b])).toMatchObject([
      { active: 0, used: {} },
      { active: 0, used: {} },
    ])
    expect([...(await upstream.calls(a)), ...(await upstream.calls(b))]).toEqual([])
  })

  it('draws a thousand unless told otherwise', async () => {
    await start({ model_list: [echo('group', 'only')] })
    expect((await ask({})).body).toMatchObject({ calls: 1000, deployments: [{ chosen: 1000, share: 1 }] })
  })

  it('tries another strategy, or a policy, in the place of those that hold', async () => {
    await start({ model_list: [echo('group', 'a', { priority: 2, weight: 0 }), echo('group', 'b', { priority: 3 })] })
    const first = await simulated({ strategy: 'priority-based-routing' })
    expect(first).toMatchObject({ a: { share: 1, reason: 'priority-based-routing: priority 2' }, b: { share: 0 } })
    const policy = { routing_strategy: 'weighted', timeout: 3 }
    expect(await simulated({ policy })).toMatchObject({ a: { share: 0 }, b: { share: 1 } })
    const both = await ask({ policy, strategy: 'least-busy' })
    expect(both.body).toMatchObject({ strategy: 'least-busy' })
    expect((await ask({})).body).toMatchObject({ strategy: 'simple-shuffle' })
  })

  it('agrees with what calls do', async () => {
    await start({
      router_settings: { routing_strategy: 'priority-based-routing' },
      model_list: [echo('group', 'a', { priority: 1 }), echo('group', 'b', { priority: 0 }), echo('group', 'c')],
    })
    await fail('b')
    const drawn = await simulated({ calls: 50 })
    const winners = Object.values(drawn).flatMap(({ chosen, deployment_id: id }) => (chosen > 0 ? [id] : []))
    const response = await gateway.chat({ model: 'group', messages: [{ role: 'user', content: 'Hello' }] })
    await response.text()
    expect(winners).toEqual([response.headers.get('x-gateway-deployment')])
  })

  it('leaves out what is cooled, tells why, and counts what nobody would take', async () => {
    await start({ model_list: [echo('group', 'a'), echo('group', 'b')] })
    await fail('a')
    expect(await simulated({ calls: 10 })).toMatchObject({
      a: { chosen: 0, eligible: false, reason: expect.stringMatching(/^cooling for (29|30) s .*1, .* timeout$/) },
      b: { chosen: 10, eligible: true },
    })
    await fail('b')
    expect((await ask({ calls: 10 })).body).toMatchObject({ unserved: 10 })
  })

  it('leaves out what is at a per-minute limit, where that is checked', async () => {
    const model_list = [echo('group', 'a', { rpm_limit: 0 }), echo('group', 'b')]
    await start({ router_settings: { enable_pre_call_checks: true }, model_list })
    expect(await simulated({ calls: 10 })).toMatchObject({
      a: { chosen: 0, eligible: false, reason: 'at a per-minute limit' },
      b: { chosen: 10 },
    })
    await gateway.close()
    await start({ model_list })
    expect(await simulated({ calls: 10 })).toMatchObject({ a: { eligible: true } })
  })

  it('goes by tags and by the kind of request', async () => {
    const model_list = [echo('group', 'a', { tags: ['eu'] }), echo('group', 'b')]
    await start({ model_list })
    expect(await simulated({ tags: ['eu'], calls: 10 })).toMatchObject({
      a: { chosen: 10 },
      b: { chosen: 0, eligible: false, reason: 'lacks a requested tag' },
    })
    expect(await simulated({ mode: 'completion' })).toMatchObject({ a: { eligible: true }, b: { eligible: true } })
    const speech = await ask({ mode: 'audio_speech', calls: 10 })
    expect(speech.body).toMatchObject({
      unserved: 10,
      deployments: [{ eligible: false, reason: 'takes no audio_speech requests' }, { eligible: false }],
    })
    expect((await ask({ tags: ['us'], calls: 10 })).body.unserved).toBe(10)
  })

  it('is done in time for a large group', async () => {
    const model_list = Array.from({ length: 500 }, (_, index) => echo('group', `large-${index}`))
    await start({ router_settings: { routing_strategy: 'weighted' }, model_list })
    const { status, body } = await ask({ calls: 10_000 })
    expect(status).toBe(200)
    expect(body.calls).toBe(400)
    expect(body.unserved).toBe(0)
  })

  it.each([
    ['no calls', { calls: 0 }, 'calls'],
    ['too many', { calls: 10_001 }, 'calls'],
    ['a mode that there is none of', { mode: 'smell' }, 'mode'],
    ['a strategy that there is none of', { strategy: 'best' }, 'strategy'],
    ['a policy that is none', { policy: { timeout: 0 } }, 'policy.timeout'],
    ['tags that are none', { tags: 'eu' }, 'tags'],
    ['an unknown field', { draws: 5 }, 'draws'],
  ])('%s is a 400 that names it', async (_, body, param) => {
    await start({ model_list: [echo('group', 'a')] })
    expect(await ask(body)).toMatchObject({ status: 400, body: { error: { param } } })
  })
})
