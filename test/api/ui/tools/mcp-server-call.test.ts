import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { type NamedTools, startNamedTools } from '../../../support/named-tools.node.ts'

describe('a tool that an administrator calls', () => {
  let far: NamedTools
  let gateway: FullGateway
  beforeAll(async () => {
    far = await startNamedTools()
    gateway = await startFullGateway(
      [
        'gateway_settings:',
        '  mcp_servers:',
        `    - { server_key: far, base_url: "${far.url}", enabled: false }`,
        `    - { server_key: slow, base_url: "${far.url}", request_timeout_ms: 200 }`,
        '    - { server_key: away, base_url: "http://127.0.0.1:9/mcp" }',
      ].join('\n'),
    )
  })
  afterAll(async () => {
    await gateway?.close()
    await far?.close()
  })

  async function call(key: string, body: unknown, path = `/mcp-servers/${key}/call`) {
    const response = await gateway.fetch(`/ui/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
    return { status: response.status, body: (await response.json()) as any }
  }

  it.each(['echo', 'far__echo'])('answers, by the name %s, though its server is turned off', async (tool) => {
    expect(await call('far', { tool, arguments: { words: 'x' } })).toEqual({
      status: 200,
      body: {
        ok: true,
        failure: null,
        result: {
          content: [{ type: 'text', text: '{"words":"x"}' }],
          structured_content: { given: { words: 'x' } },
          is_error: false,
        },
        latency_ms: expect.any(Number),
      },
    })
  })

  it('tells what it could not do in its result', async () => {
    expect((await call('far', { tool: 'fails' })).body).toMatchObject({ ok: true, result: { is_error: true } })
  })

  it.each([
    ['slow', 'hangs', 'timeout', 'did not answer within 200 ms'],
    ['far', 'nothing', 'unknown_tool', 'has no such tool'],
    ['far', 'refuses', 'failed', 'out of order'],
    ['away', 'any', 'unreachable', "'away'"],
  ])('of %s called %s is told to fail: %s', async (key, tool, kind, words) => {
    const { status, body } = await call(key, { tool })
    expect([status, body.ok, body.result, body.failure.kind]).toEqual([200, false, null, kind])
    expect(body.failure.message).toContain(words)
  })

  it.each<[string, unknown, number, string]>([
    ['far', {}, 400, 'tool'],
    ['far', { tool: '' }, 400, 'tool'],
    ['far', { tool: 'a\0' }, 400, 'tool'],
    ['far', { tool: 'x'.repeat(257) }, 400, 'tool'],
    ['far', { tool: 'echo', arguments: [] }, 400, 'arguments'],
    ['far', { tool: 'echo', key: 'x' }, 400, 'key'],
    ['nobody', { tool: 'echo' }, 404, 'server_key'],
    ['__proto__', { tool: 'echo' }, 404, 'server_key'],
  ])('of %s with %j: %i, for its %s', async (key, body, status, param) => {
    expect(await call(key, body)).toMatchObject({ status, body: { error: { param } } })
  })

  it('is in the audit without its arguments, and in no ledger', async () => {
    await call('far', { tool: 'echo', arguments: { words: 'canary-of-arguments' } })
    await expect
      .poll(async () => (await call('', undefined, '/audit/events?action=mcp_server.call&limit=1')).body.data[0])
      .toMatchObject({ resource_id: 'far', actor_type: 'master_key', status: 200, metadata: { tool: 'echo' } })
    const told = await call('', undefined, '/audit/events?limit=100')
    expect(JSON.stringify(told.body)).not.toContain('canary-of-arguments')
    expect((await call('', undefined, '/logs')).body.data).toEqual([])
  })
})
