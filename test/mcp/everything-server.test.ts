import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAbort } from '../../src/lib/abort.ts'
import type { ToolProgress, ToolServers } from '../../src/mcp/tool-servers.ts'
import { fetchTransport } from '../../src/transport/fetch.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'
import { type EverythingServer, startEverythingServer } from '../support/everything-server.node.ts'
import { askingToolServers, patient, toolServer } from '../support/tool-servers.ts'

const undici = undiciTransport()

describe.each([
  ["Node's transport", undici, {}],
  ['fetch, where a promise belongs to its request', fetchTransport(), { defer: () => {} }],
])('the reference server, asked by %s', (_, transport, options) => {
  let everything: EverythingServer
  let servers: ToolServers
  beforeAll(async () => {
    everything = await startEverythingServer()
    servers = askingToolServers(transport, options)
  })
  afterAll(async () => {
    await everything?.close()
  })
  const server = (timeoutMs = 5000) => toolServer(everything.url, { timeoutMs })
  const call = (tool: string, args: Record<string, unknown> = {}) =>
    servers.call(server(), tool, args, { signal: patient })

  it('lists its tools, and those that run as a task only are left out', async () => {
    const tools = await servers.tools(server(), { signal: patient })
    expect(tools.find(({ name }) => name === 'get-sum')).toMatchObject({
      server: 'far',
      publicName: 'far__get-sum',
      title: 'Get Sum Tool',
      inputSchema: { type: 'object', required: ['a', 'b'] },
    })
    const { leftOut, ...report } = await servers.check(server(), { signal: patient })
    expect(report).toMatchObject({ protocolVersion: '2025-11-25', name: 'mcp-servers/everything' })
    expect(report.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    expect(leftOut).toEqual([{ name: 'simulate-research-query', reason: 'it runs as a task only' }])
  })

  it('answers with text, images, links and structure', async () => {
    expect(await call('get-sum', { a: 19, b: 23 })).toEqual({
      content: [{ type: 'text', text: 'The sum of 19 and 23 is 42.' }],
      isError: false,
    })
    const { content } = await call('get-tiny-image')
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'text'])
    expect(content[1]).toMatchObject({ mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) })
    const { structuredContent } = await call('get-structured-content', { location: 'Chicago' })
    expect(structuredContent).toMatchObject({ conditions: expect.any(String), temperature: expect.any(Number) })
    const links = await call('get-resource-links', { count: 2 })
    expect(links.content.filter(({ type }) => type === 'resource_link')).toHaveLength(2)
  })

  it('says itself what is wrong with a call', async () => {
    expect(await call('echo')).toMatchObject({ isError: true, content: [{ text: /Invalid arguments for tool echo/ }] })
    expect(await call('nonsense')).toMatchObject({ isError: true, content: [{ text: /nonsense/ }] })
  })

  it('tells how far a call is', async () => {
    const told: ToolProgress[] = []
    const progress = (one: ToolProgress) => void told.push(one)
    const args = { duration: 0.4, steps: 4 }
    await servers.call(server(), 'trigger-long-running-operation', args, { signal: patient, progress })
    expect(told).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })))
  })

  it('is left when its time is over, and when nobody waits any more', async () => {
    const args = { duration: 30, steps: 2 }
    const late = servers.call(server(300), 'trigger-long-running-operation', args, { signal: patient })
    await expect(late).rejects.toMatchObject({
      kind: 'timeout',
      message: "The tool server 'far' did not answer within 300 ms.",
    })
    const signal = newAbort<Error>()
    const left = servers.call(server(), 'trigger-long-running-operation', args, { signal })
    setTimeout(() => signal.abort(new Error('nobody waits')), 200)
    await expect(left).rejects.toThrow('nobody waits')
    // The session is as good as before.
    expect(await call('echo', { message: 'still here' })).toMatchObject({ isError: false })
  })

  it('keeps one session, and hears of its end', async () => {
    const opened = () => everything.lines.filter((line) => line.startsWith('Session initialized')).length
    const before = opened()
    await Promise.all([call('echo', { message: 'one' }), call('echo', { message: 'two' })])
    expect(opened()).toBe(before)
    await servers.end()
    expect(everything.lines.filter((line) => line.startsWith('Received session termination')).length).toBe(before)
  })
})

afterAll(() => undici.close())
