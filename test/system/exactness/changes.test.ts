import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayProcess } from '../../runtimes/node/gateway-process.ts'
import { deployment, echo } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer, slowBetween } from '../../support/upstream/index.ts'
import { as, type Pair, pairExists, startPair, statusOf } from './pair.ts'

const messages = [{ role: 'user', content: 'Hello' }]

describe.skipIf(!pairExists())('what a process remembers of keys', () => {
  let pair: Pair
  let upstream: Upstream

  beforeAll(async () => {
    upstream = await startUpstream()
    pair = await startPair({
      general_settings: { log_level: 'warn', trusted_proxies: ['127.0.0.0/8'] },
      model_list: [echo('echo', 'echo-1'), deployment(upstream.url, 'group', 'changes-upstream')],
    })
  })
  afterEach(() => pair.expectShared())
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
  })

  const ask = (gateway: GatewayProcess, key: string, headers: Record<string, string> = {}) =>
    statusOf(gateway.fetch('/v1/models', { headers: { ...as(key), ...headers } }))

  it.each(['revoke', 'regenerate'])(
    'a call that runs at the time of the %s goes on to its end; the next one is refused',
    async (action) => {
      upstream.script('changes-upstream', [answer({}, slowBetween({ ms: 400, only: 3 }))])
      const { key, ids } = await pair.family({ key: { max_parallel_requests: 2, rpm_limit: 100 } })
      const init = { headers: as(key) }
      const running = await pair.gateways[1].chat({ model: 'group', messages, stream: true }, init)
      expect(running.status).toBe(200)
      await pair.admin('POST', `keys/${ids.key}/${action}`, {})
      expect(await statusOf(pair.gateways[1].chat({ model: 'group', messages }, init))).toBe(401)
      expect(await statusOf(pair.gateways[0].chat({ model: 'group', messages }, init))).toBe(401)
      expect(await running.text()).toContain('[DONE]')
    },
  )

  it('a key that was revoked stays so where the store has lost all that it knew', async () => {
    const { key, ids } = await pair.family()
    expect([await ask(pair.gateways[0], key), await ask(pair.gateways[1], key)]).toEqual([200, 200])
    // What was read a moment ago is taken for true.
    await wait(1100)
    await pair.admin('POST', `keys/${ids.key}/revoke`, {})
    await pair.raw.command('FLUSHALL')
    expect([await ask(pair.gateways[1], key), await ask(pair.gateways[0], key)]).toEqual([401, 401])
  })

  it('a record that a slow process puts back into the store, after the store has lost all versions, brings nobody back', async () => {
    const { key, ids } = await pair.family()
    expect([await ask(pair.gateways[0], key), await ask(pair.gateways[1], key)]).toEqual([200, 200])
    const each = (pattern: string, does: string) =>
      pair.raw.command(
        'EVAL',
        `for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call(${does}) end return 1`,
        0,
        pattern,
      )
    await each('gateway:auth:*', `'COPY', key, 'kept:' .. key`)
    await pair.admin('POST', `keys/${ids.key}/revoke`, {})
    await each('gateway:version:*', `'DEL', key`)
    await each('kept:*', `'RENAME', key, string.sub(key, 6)`)
    const third = await pair.another()
    for (let turn = 0; turn < 2; turn++) expect(await ask(third, key)).toBe(401)
    expect([await ask(pair.gateways[1], key), await ask(pair.gateways[0], key)]).toEqual([401, 401])
  })

  it('an address that is not allowed any more is refused with its next request, whoever asked before', async () => {
    const { key, ids } = await pair.family()
    const [here, there] = [{ 'x-forwarded-for': '10.1.1.1' }, { 'x-forwarded-for': '10.2.2.2' }]
    for (const from of [here, there]) expect(await ask(pair.gateways[1], key, from)).toBe(200)
    await pair.admin('PATCH', `keys/${ids.key}`, { allowed_ips: ['10.1.0.0/16'] })
    expect(await ask(pair.gateways[1], key, there)).toBe(403)
    expect(await ask(pair.gateways[1], key, here)).toBe(200)
    await pair.admin('PATCH', `keys/${ids.key}`, { allowed_ips: ['10.2.0.0/16'] })
    expect(await ask(pair.gateways[1], key, there)).toBe(200)
    expect(await ask(pair.gateways[1], key, here)).toBe(403)
  })

  it('a key that has ended and is given more time works again at once', async () => {
    const { key, ids } = await pair.family({ key: { expires_at: new Date(Date.now() + 700).toISOString() } })
    expect(await ask(pair.gateways[1], key)).toBe(200)
    await expect.poll(() => ask(pair.gateways[1], key)).toBe(401)
    await pair.admin('PATCH', `keys/${ids.key}`, { expires_at: null })
    expect(await ask(pair.gateways[1], key)).toBe(200)
  })

  it('a new limit counts what was used before it', async () => {
    const { key, ids } = await pair.family({ team: { rpm_limit: 100 } })
    for (let call = 0; call < 5; call++) expect(await ask(pair.gateways[1], key)).toBe(200)
    await pair.admin('PATCH', `teams/${ids.team}`, { rpm_limit: 6 })
    expect([await ask(pair.gateways[1], key), await ask(pair.gateways[1], key)]).toEqual([200, 429])
    await pair.admin('PATCH', `teams/${ids.team}`, { rpm_limit: null })
    expect(await ask(pair.gateways[1], key)).toBe(200)
  })
})
