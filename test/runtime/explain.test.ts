import { describe, expect, inject, it } from 'vitest'
import { configuration, deployment } from '../support/configuration.ts'
import { answer, rateLimited, serverError, slowHeaders } from '../support/upstream/index.ts'
import { upstreamClient } from '../support/upstream-client.ts'
import { withGateway } from '../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const run = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'w' : 'n'
const messages = [{ role: 'user', content: 'Count.' }]
const gateway = withGateway()
let serial = 0
let [first, second, third, spare] = ['', '', '', '']

async function begin(settings: object, infos: readonly object[] = [{}, {}, {}]): Promise<void> {
  serial += 1
  ;[first, second, third, spare] = ['first', 'second', 'third', 'spare'].map(
    (name) => `explain-${run}-${serial}-${name}`,
  ) as [string, string, string, string]
  const group = [first, second, third].slice(0, infos.length)
  await gateway.restart(
    configuration({
      router_settings: { routing_strategy: 'priority-based-routing', timeout: 5, ...settings },
      gateway_settings: { fallbacks: [{ group: ['spare'] }] },
      model_list: [
        ...group.map((id, priority) => deployment(upstream.url, 'group', id, { priority, ...infos[priority] })),
        deployment(upstream.url, 'spare', spare),
      ],
    }),
  )
  for (const id of [first, second, third, spare]) await upstream.script(id, [answer({ text: id })])
}

async function explained(more: object = {}, asked = '1'): Promise<string | null> {
  const headers = { 'x-gateway-explain': asked }
  const response = await gateway.chat({ model: 'group', messages, ...more }, { headers })
  await response.text()
  await gateway.idle()
  return response.headers.get('x-gateway-explain')
}

const until = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ'

describe('x-gateway-explain', () => {
  it('names who answered, and who was not needed', async () => {
    await begin({})
    for (const stream of [false, true]) {
      expect(await explained({ stream })).toBe(`${first};taken, ${second};unneeded, ${third};unneeded`)
    }
  })

  it('is there only when it is asked for', async () => {
    await begin({})
    expect([await explained({}, '0'), await explained({}, ''), await explained({}, 'true')]).toEqual([null, null, null])
  })

  it('names who failed, who is cooling and until when, and where the answer came from in the end', async () => {
    await begin({ cooldown_time: 30 }, [{}, {}])
    await upstream.script(first, [rateLimited()])
    await upstream.script(second, [serverError()])
    // Without retries the group is left after its first failure.
    expect(await explained()).toBe(`${first};failed=rate_limit, ${spare};taken;group=spare, ${second};unreached`)
    expect(await explained()).toMatch(
      new RegExp(`^${second};failed=provider_error, ${spare};taken;group=spare, ${first};cooling;until=${until}$`),
    )
    expect(await explained()).toMatch(
      new RegExp(`^${spare};taken;group=spare, ${first};cooling;until=${until}, ${second};cooling;until=${until}$`),
    )
  })

  it('is told with an error too: nobody is healthy', async () => {
    await begin({ cooldown_time: 30 }, [{}])
    for (const id of [first, spare]) await upstream.script(id, [serverError()])
    for (let failures = 0; failures < 4; failures++) await explained()
    expect(await explained()).toMatch(
      new RegExp(`^${first};cooling;until=${until}, ${spare};cooling;until=${until};group=spare$`),
    )
  })

  it('names the limit that is reached, and tags that are missing', async () => {
    await begin({ enable_pre_call_checks: true }, [{ rpm_limit: 1, tags: ['eu'] }, { tags: ['us'] }])
    expect(await explained({ metadata: { tags: ['eu'] } })).toBe(`${first};taken, ${second};tags`)
    expect(await explained()).toBe(`${second};taken, ${first};full=requests`)
    expect(await explained({ metadata: { tags: ['mars'] } })).toBe(`${first};tags, ${second};tags`)
  })

  it('names who was late', async () => {
    await begin({ hedge_after_ms: 50 })
    await upstream.script(first, [answer({ text: 'slow' }, slowHeaders({ ms: 3000 }))])
    expect(await explained()).toBe(`${first};lost_hedge, ${second};taken, ${third};unneeded`)
  })

  it('is ASCII, and bounded however many there are', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `zürich, ${index}; "ö"`)
    await gateway.restart(
      configuration({
        router_settings: { routing_strategy: 'priority-based-routing' },
        model_list: ids.map((id, priority) => ({
          model_name: 'group',
          deployment_id: id,
          gateway_params: { model: 'echo/echo' },
          model_info: { priority },
        })),
      }),
    )
    const told = (await explained()) ?? ''
    expect(told).toMatch(/^z%C3%BCrich%2C%200%3B%20%22%C3%B6%22;taken, z%C3%BCrich[\x20-\x7e]*, \*;more=\d+$/)
    expect(told.length).toBeLessThan(4200)
    expect(told.split(', ').length - 1 + Number(/more=(\d+)$/.exec(told)?.[1])).toBe(200)
  })
})
