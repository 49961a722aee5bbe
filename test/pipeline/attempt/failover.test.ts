import { beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { GatewayError } from '../../../src/lib/errors.ts'
import { holdFallback } from '../../../src/pipeline/admit/hold-fallback.ts'
import { configOf } from '../../support/gateway.ts'
import {
  badKey,
  badRequest,
  change,
  contextWindowExceeded,
  serverError,
  slowHeaders,
} from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

vi.mock('../../../src/pipeline/admit/hold-fallback.ts')

const upstream = upstreamClient(inject('upstreamUrl'))
const [first, second, third] = ['failover-first', 'failover-second', 'failover-third']
const [chained, closed, last] = ['failover-chained', 'failover-closed', 'failover-last']
const many = 'failover-many'
const ids = Array.from({ length: 18 }, (_, at) => `${many}-${at}`)
const body = { model: first, messages: [{ role: 'user', content: 'Hello' }] }
const tooDear = new GatewayError('budget_exceeded', "Budget exceeded for scope 'key_budget'")

const gateway = withGateway(() => {
  const settings = `
router_settings: { num_retries: 0, cooldown_time: 0 }
gateway_settings: { fallbacks: [{ ${first}: [${second}, ${third}] }, { ${chained}: [${closed}] }, { ${closed}: [${last}] }] }
`
  const alone = Object.fromEntries([first, second, third, chained, closed, last].map((name) => [name, [name]]))
  return configOf(upstream.url, { [many]: ids, ...alone }, settings)
})
beforeEach(() => void vi.mocked(holdFallback).mockReset())

describe('the groups that wait behind one that failed', () => {
  it.each([
    ['a refusal of the request', badRequest],
    ['a request that is too long', contextWindowExceeded],
  ])('are not asked after %s', async (_, refusing) => {
    await upstream.script(first, [serverError()])
    await upstream.script(second, [refusing()])
    const before = (await upstream.calls(third)).length
    const response = await gateway.chat(body)
    await response.text()
    expect(response.status).toBe(400)
    expect(await upstream.calls(third)).toHaveLength(before)
  })

  it('are neither asked nor held for when the client has left', async () => {
    await upstream.script(first, [serverError()])
    await upstream.script(second, [change(serverError(), slowHeaders({ ms: 2000 }))])
    const before = (await upstream.calls(third)).length
    const leaving = new AbortController()
    const asking = gateway.chat(body, { signal: leaving.signal })
    await upstream.until(second, (calls) => calls.at(-1)?.outcome === 'running')
    leaving.abort()
    await expect(asking).rejects.toThrow()
    await gateway.idle()
    expect(gateway.logs.findLast(({ event }) => event === 'call.finished')).toMatchObject({ ending: 'client_closed' })
    expect(vi.mocked(holdFallback)).toHaveBeenCalledTimes(1)
    expect(await upstream.calls(third)).toHaveLength(before)
  })

  it('hide nothing that a provider said when nobody can pay for them', async () => {
    await upstream.script(first, [serverError()])
    vi.mocked(holdFallback).mockRejectedValue(tooDear)
    const response = await gateway.chat(body)
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_failed' } }])
    expect(response.headers.get('x-gateway-model-group')).toBe(first)
  })

  it('are asked behind one that nobody can pay for', async () => {
    await upstream.script(first, [serverError()])
    vi.mocked(holdFallback).mockRejectedValueOnce(tooDear)
    const response = await gateway.chat(body)
    await response.text()
    expect([response.status, response.headers.get('x-gateway-deployment')]).toEqual([200, third])
  })
})

it('the rest of a large group that nobody can pay for hides nothing that its first ones said', async () => {
  for (const id of ids) await upstream.script(id, [badKey()])
  vi.mocked(holdFallback).mockRejectedValue(tooDear)
  const response = await gateway.chat({ ...body, model: many })
  expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_refused' } }])
  expect(response.headers.get('x-gateway-attempts')).toBe('16')
})

it('the fallbacks of a group that is closed are asked although the store goes away meanwhile', async () => {
  await upstream.script(chained, [serverError()])
  vi.spyOn(gateway.store, 'startAttempt').mockResolvedValueOnce(undefined)
  vi.spyOn(gateway.store, 'signals').mockRejectedValueOnce(new GatewayError('store_unavailable', 'It is down.'))
  const response = await gateway.chat({ ...body, model: chained })
  await response.text()
  expect([response.status, response.headers.get('x-gateway-deployment')]).toEqual([200, last])
})
