import { expect, it } from 'vitest'
import { checkedConfig } from '../../../../src/routing/checked-config.ts'
import { subrequestsOf } from '../../../../src/runtimes/local/deploy/measure.node.ts'
import { beyondPlan, PLANS } from '../../../../src/runtimes/local/deploy/plan-limits.ts'

const GROUPS = ['a', 'b', 'c'].map((name) => `{ model_name: ${name}, gateway_params: { model: echo/${name} } }`)
const REDIS = { REDIS_URL: 'https://redis.example', REDIS_TOKEN: 'a-token' }

function requestsOf(settings: string, env: Record<string, string> = {}) {
  const keys = { GATEWAY_MASTER_KEY: 'sk-stands-for-a-key-7d1f-7d1f', GATEWAY_SALT_KEY: 'stands-for-a-key-7d1f-7d1f' }
  return subrequestsOf(checkedConfig(`${settings}\nmodel_list: [${GROUPS.join(', ')}]`, { ...keys, ...env }))
}

// As counted in workerd: a call that fails over at 10 deployments asks a shared store over HTTP 22 times.
it.each([
  ['a call at once', '', {}, 9],
  ['a call at once, with Redis', '', REDIS, 18],
  ['ten attempts', 'router_settings: { num_retries: 9 }', {}, 18],
  ['ten attempts, with Redis', 'router_settings: { num_retries: 9 }', REDIS, 45],
  ['a hedge', 'router_settings: { hedge_after_ms: 100 }', {}, 10],
  ['a hedge that is one of the retries', 'router_settings: { hedge_after_ms: 100, num_retries: 1 }', {}, 10],
  ['a chain of three groups', 'gateway_settings: { fallbacks: [{ a: [b, c] }] }', REDIS, 24],
])('%s makes so many requests at most', (_, settings, env, most) => {
  expect(requestsOf(settings, env)).toEqual({ call: most, withTools: most })
})

it('a chain that fails over too often with Redis is refused for Workers Free, and not for Workers Paid', () => {
  const { call } = requestsOf(
    'router_settings: { num_retries: 3 }\ngateway_settings: { fallbacks: [{ a: [b, c] }] }',
    REDIS,
  )
  const measured = { gzipBytes: 1, bytes: 1, startupMs: 1, subrequests: call, cronTriggers: 1 }
  expect(beyondPlan(measured, PLANS.free)).toEqual(['a call takes 51 subrequests; Workers Free allows 50'])
  expect(beyondPlan(measured, PLANS.paid)).toEqual([])
})

it('managed tools take turns, calls and sessions', () => {
  const servers = 'gateway_settings: { mcp_servers: [{ server_key: one, base_url: "https://tools.example/mcp" }] }'
  expect(requestsOf(servers, REDIS)).toEqual({ call: 18, withTools: 18 + 24 + 16 + 3 })
})
