import { describe, expect, it } from 'vitest'
import { messagesDialect } from '../../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { ToolFailure } from '../../../src/mcp/tool-servers.ts'
import { chat } from '../../../src/modes/chat.ts'
import { asMode } from '../../../src/modes/mode.ts'
import type { Endpoint } from '../../../src/pipeline/endpoint.ts'
import { budgetedCalls, CHAT, placed } from '../../support/budgeted-calls.ts'
import { scriptedModel, textResult, toolServersOf } from '../../support/tool-loops.ts'

const RESPONSES: Endpoint = {
  path: '/v1/responses',
  mode: asMode(chat),
  dialect: responsesDialect,
  errorEvent: responsesDialect.errorEvent,
}
const MESSAGES: Endpoint = {
  path: '/v1/messages',
  mode: asMode(chat),
  dialect: messagesDialect,
  errorEvent: messagesDialect.errorEvent,
}
const messages = [{ role: 'user', content: 'Hi' }]
const own = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })

function gateway() {
  const { transport, asked } = scriptedModel([{ text: 'Done.' }])
  const { toolServers } = toolServersOf({
    docs: { search: () => textResult('found'), read_page: () => textResult('a page') },
    secret: {},
  })
  const calls = budgetedCalls(
    {
      gateway_settings: {
        mcp_servers: [
          { server_key: 'docs', base_url: 'http://docs.test/mcp' },
          { server_key: 'off', base_url: 'http://off.test/mcp', enabled: false },
          { server_key: 'secret', base_url: 'http://secret.test/mcp' },
        ],
      },
      model_list: [placed('m', 'only', {})],
    },
    { transport, toolServers },
  )
  const from = { ...calls.caller({}), mayUseServer: (key: string) => key !== 'secret' }
  const ask = (body: object, endpoint = CHAT) =>
    calls.ask({ ...from, again: async () => from }, { messages, ...body }, {}, endpoint)
  return { ...calls, toolServers, asked, ask }
}

const mcp = (more: object) => ({ type: 'mcp', server: 'docs', ...more })

describe('managed tools that cannot be', () => {
  it.each<[string, object, number, string, Endpoint?]>([
    ['an unknown server', { tools: [mcp({ server: 'nobody' })] }, 404, 'tools.0.server'],
    ['a disabled server', { tools: [own('a'), mcp({ server: 'off' })] }, 404, 'tools.1.server'],
    ['a server of others', { tools: [mcp({}), mcp({ server: 'secret' })] }, 404, 'tools.1.server'],
    ['no server', { tools: [{ type: 'mcp' }] }, 400, 'tools.0.server'],
    ['an unknown server by its label', { tools: [{ type: 'mcp', server_label: 'x' }] }, 404, 'tools.0.server_label'],
    ['a stream by a label', { tools: [{ type: 'mcp', server_label: 'docs' }], stream: true }, 400, 'stream'],
    ['a server by a number', { tools: [mcp({ server: 5 })] }, 400, 'tools.0.server'],
    ['an approval', { tools: [mcp({ require_approval: 'always' })] }, 400, 'tools.0.require_approval'],
    [
      'approvals of some',
      { tools: [mcp({ require_approval: { never: { tool_names: [] } } })] },
      400,
      'tools.0.require_approval',
    ],
    ['credentials of the client', { tools: [mcp({ authorization: 'x' })] }, 400, 'tools.0.authorization'],
    ['no list of names', { tools: [mcp({ allowed_tools: 'search' })] }, 400, 'tools.0.allowed_tools'],
    [
      'a name that is not there',
      { tools: [mcp({ allowed_tools: ['search', 'nothing'] })] },
      400,
      'tools.0.allowed_tools',
    ],
    ['a function of the same name', { tools: [mcp({}), own('docs__search')] }, 400, 'tools.1'],
    ['a stream', { tools: [mcp({})], stream: true }, 400, 'stream'],
    ['several answers', { tools: [mcp({})], n: 2 }, 400, 'n'],
    ['another API', { tools: [mcp({})], max_tokens: 5 }, 400, 'tools.0', MESSAGES],
    [
      'a stream of responses',
      { input: 'Hi', tools: [{ type: 'mcp', server_label: 'docs' }], stream: true },
      400,
      'stream',
      RESPONSES,
    ],
  ])('are refused: %s', async (_, body, status, param, endpoint = CHAT) => {
    const { ask, asked } = gateway()
    expect(await ask(body, endpoint)).toMatchObject({ status, param })
    expect(asked).toHaveLength(0)
  })

  it('are refused alike, whether a server is not there or not for the caller', async () => {
    const { ask } = gateway()
    const texts = await Promise.all(
      ['nobody', 'off', 'secret'].map(async (server) =>
        (await ask({ tools: [mcp({ server })] })).text.replace(server, 'x'),
      ),
    )
    expect(new Set(texts).size).toBe(1)
  })

  it('are refused where their server does not list them', async () => {
    for (const [kind, status] of [
      ['unreachable', 502],
      ['timeout', 504],
    ] as const) {
      const run = gateway()
      Object.assign(run.toolServers, { tools: () => Promise.reject(new ToolFailure(kind, 'It is away.')) })
      expect(await run.ask({ tools: [mcp({})] })).toMatchObject({
        status,
        param: 'tools.0',
        text: expect.stringContaining('It is away.'),
      })
      expect(run.asked).toHaveLength(0)
      expect(run.finished[0]).toMatchObject({ ending: 'failed', status, costNano: 0 })
    }
  })
})

describe('the tools of a server', () => {
  const offered = (run: ReturnType<typeof gateway>) =>
    (run.asked[0]?.body.tools as { function: { name: string } }[] | undefined)?.map((tool) => tool.function.name)

  it.each<[object, string[]]>([
    [{}, ['docs__search', 'docs__read_page']],
    [{ require_approval: null, allowed_tools: null }, ['docs__search', 'docs__read_page']],
    [{ allowed_tools: ['search'] }, ['docs__search']],
    [{ server: undefined, server_label: 'docs', allowed_tools: ['search'] }, ['docs__search']],
    [{ allowed_tools: { tool_names: ['search'] } }, ['docs__search']],
    [{ allowed_tools: { read_only: true } }, ['docs__read_page']],
  ])('are offered as %j allows', async (more, names) => {
    const run = gateway()
    expect(await run.ask({ tools: [mcp(more)] })).toMatchObject({ status: 200 })
    expect(offered(run)).toEqual(names)
  })

  it('may be none at all', async () => {
    const run = gateway()
    const body = { tools: [mcp({ allowed_tools: [] })], tool_choice: 'auto', parallel_tool_calls: false }
    expect(await run.ask(body)).toMatchObject({ status: 200 })
    expect(Object.keys(run.asked[0]?.body ?? {}).sort()).toEqual(['messages', 'model'])
  })

  it('of a vendor pass as they came, and no others of type mcp', async () => {
    const run = gateway()
    const vendors = { type: 'mcp', server: 'docs', server_label: 'x', server_url: 'https://x.test/mcp' }
    await run.ask({ tools: [vendors, mcp({ allowed_tools: ['search'] })] })
    expect(run.asked[0]?.body.tools).toEqual([vendors, expect.objectContaining({ type: 'function' })])
  })

  it('are found in a list that is too long to be read at once', async () => {
    const run = gateway()
    const many = Array.from({ length: 2000 }, (_, index) => own(`function_${index}_${'x'.repeat(100)}`))
    expect(await run.ask({ tools: [...many, mcp({})] })).toMatchObject({ status: 200 })
    expect(offered(run)?.slice(-2)).toEqual(['docs__search', 'docs__read_page'])
    expect(JSON.stringify(run.asked[0]?.body.tools)).not.toContain('"mcp"')
  })
})
