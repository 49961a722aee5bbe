import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newAbort } from '../../src/lib/abort.ts'
import { secret } from '../../src/lib/secret.ts'
import type { ToolServer } from '../../src/mcp/tool-server.ts'
import type { ToolServers } from '../../src/mcp/tool-servers.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { type ScriptedToolServer, startScriptedToolServer } from '../support/scripted-tool-server.ts'
import { askingToolServers, patient, toolServer } from '../support/tool-servers.ts'

const undici = undiciTransport()
let scripted: ScriptedToolServer
beforeAll(async () => {
  scripted = await startScriptedToolServer()
})
afterAll(async () => {
  await scripted.close()
  await undici.close()
})

const at = (behaviour: string, changes?: Partial<ToolServer>) => toolServer(scripted.url(behaviour), changes)
const asked = (method: string, from = 0) =>
  scripted.received.slice(from).filter(({ verb, body }) => (body?.method ?? verb) === method)

describe.each([
  ['of a runtime whose promises outlive requests', false],
  ['of a runtime where a promise belongs to its request', true],
])('a session %s', (_, owned) => {
  let servers: ToolServers
  let clock: TestClock
  let from: number
  let deferred: Promise<void>[]
  beforeEach(() => {
    clock = testClock()
    deferred = []
    from = scripted.received.length
    const defer = (work: Promise<void>) => void deferred.push(work)
    servers = askingToolServers(undici, { now: clock.now, ...(owned ? { defer } : {}) })
  })
  const call = (server: ToolServer) => servers.call(server, 'say', { text: 'hello' }, { signal: patient })
  const names = async (server: ToolServer) => (await servers.tools(server, { signal: patient })).map(({ name }) => name)

  it('is opened once, and carries every call', async () => {
    await call(at('plain'))
    await Promise.all([call(at('plain')), call(at('plain')), names(at('plain'))])
    expect(asked('initialize', from)).toHaveLength(1)
    const opened = asked('notifications/initialized', from)[0]?.headers['mcp-session-id']
    expect(opened).toMatch(/^session-\d+$/)
    for (const { headers } of [...asked('tools/call', from), ...asked('tools/list', from)]) {
      expect(headers['mcp-session-id']).toBe(opened)
      expect(headers['mcp-protocol-version']).toBe('2025-11-25')
      expect(headers.authorization).toBe('Bearer a-token-of-the-tests')
    }
    // Numbers of a session are given once.
    const ids = scripted.received.slice(from).flatMap(({ body }) => (body?.method && body.id) ?? [])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('is one, though many calls come at once to a server that was not asked yet', async () => {
    await Promise.all(Array.from({ length: 8 }, () => call(at('plain'))))
    await Promise.all(deferred)
    // Where requests cannot wait for each other, those that came second are given up at once.
    expect(asked('initialize', from).length - asked('DELETE', from).length).toBe(1)
    if (!owned) expect(asked('initialize', from)).toHaveLength(1)
  })

  it.each(['forgetful', 'forgetful-400'])('is opened again when a server has lost it: %s', async (behaviour) => {
    for (let n = 0; n < 3; n++) expect(await call(at(behaviour))).toMatchObject({ content: [{ text: 'hello' }] })
    expect(asked('initialize', from)).toHaveLength(3)
    // A call that a server did not know the session of was not made there.
    expect(asked('tools/call', from)).toHaveLength(5)
  })

  it('is none with a server that speaks 2026-07-28 only, to which every message tells all by itself', async () => {
    const server = at('stateless')
    expect(await names(server)).toEqual(['say'])
    const say = (text: string, signal = patient) => servers.call(server, 'say', { text }, { signal })
    expect((await say('h\u00e9')).content).toEqual([{ type: 'text', text: 'say =?base64?aMOp?=' }])
    await expect(say('ask')).rejects.toMatchObject({ kind: 'failed' })
    const signal = newAbort<Error>()
    const waiting = say('wait', signal)
    await expect.poll(() => asked('tools/call', from).length).toBe(3)
    signal.abort(new Error('nobody waits'))
    await expect(waiting).rejects.toThrow('nobody waits')
    await servers.end()
    await Promise.all(deferred)
    const methods = scripted.received.slice(from).map(({ verb, body }) => body?.method ?? verb)
    expect(methods).toEqual(['initialize', 'server/discover', 'tools/list', 'tools/call', 'tools/call', 'tools/call'])
    expect(await servers.check(server, { signal: patient })).toMatchObject({
      protocolVersion: '2026-07-28',
      name: 'stateless',
      leftOut: [{ name: 'no' }],
    })
  })

  it('ends with the server, with its address or credential, and with the process', async () => {
    await call(at('plain'))
    servers.keep(new Map([['far', at('plain', { timeoutMs: 99 })]]))
    expect(asked('DELETE', from)).toHaveLength(0)
    servers.keep(new Map([['far', at('plain', { credentials: { authorization: secret('Bearer another') } })]]))
    await expect.poll(() => asked('DELETE', from).length).toBe(1)
    // It is told by whom the session was opened.
    expect(asked('DELETE', from)[0]?.headers.authorization).toBe('Bearer a-token-of-the-tests')
    await call(at('plain'))
    await call(at('old'))
    await expect.poll(() => asked('DELETE', from).length).toBe(2)
    servers.keep(new Map([['far', at('old', { enabled: false })]]))
    await expect.poll(() => asked('DELETE', from).length).toBe(3)
    await call(at('plain'))
    await servers.end()
    expect(asked('DELETE', from)).toHaveLength(4)
  })

  it('has its calls ended by name when nobody waits for them', async () => {
    const signal = newAbort<Error>()
    const left = servers.call(at('silent'), 'say', {}, { signal })
    await expect.poll(() => asked('tools/call', from).length).toBe(1)
    signal.abort(new Error('the client left'))
    await expect(left).rejects.toThrow('the client left')
    await expect.poll(() => asked('notifications/cancelled', from).length).toBe(1)
    const [call] = asked('tools/call', from)
    expect(asked('notifications/cancelled', from)[0]?.body.params.requestId).toBe(call?.body.id)
    await expect.poll(() => scripted.open()).toBe(0)
    await expect(servers.call(at('plain'), 'say', {}, { signal })).rejects.toThrow('the client left')
  })

  it('knows its list for a minute, and shows the old one while it asks for another', async () => {
    const listed = () => asked('tools/list', from).length
    await Promise.all([names(at('plain')), names(at('plain'))])
    const first = listed()
    expect(first).toBe(owned ? 2 : 1)
    clock.advance(59_000)
    await names(at('plain'))
    expect(listed()).toBe(first)
    clock.advance(2000)
    // One of many that come now asks.
    await Promise.all(Array.from({ length: 5 }, () => names(at('plain'))))
    await expect.poll(listed).toBe(first + 1)
    await Promise.all(deferred)
    await names(at('plain'))
    expect(listed()).toBe(first + 1)
  })

  it('asks for its list, and is asked again after it hung, though the clock was set back by an hour meanwhile', async () => {
    const listed = () => asked('tools/list', from).length
    await names(at('plain'))
    clock.advance(-3_600_000)
    await names(at('plain'))
    await expect.poll(listed).toBe(2)

    const own = await startScriptedToolServer()
    const sleepy = toolServer(own.url('sleepy'), { key: 'sleepy', timeoutMs: 300 })
    await expect(names(sleepy)).rejects.toThrow('did not answer within')
    clock.advance(-3_600_000)
    own.wake()
    expect(await names(sleepy)).not.toEqual([])
    await own.close()
  })

  it('hears that its list has changed', async () => {
    const [before] = await names(at('changing'))
    await call(at('changing'))
    expect(await names(at('changing'))).toEqual([before])
    await expect.poll(() => names(at('changing'))).not.toEqual([before])
  })

  it('is left alone without a list while it hangs: one asks now and then, and the others do not wait', async () => {
    const own = await startScriptedToolServer()
    const sleepy = toolServer(own.url('sleepy'), { key: 'sleepy', timeoutMs: 300 })
    const lists = () => own.received.filter(({ body }) => body?.method === 'tools/list').length
    const failures = async (count: number) => {
      const ended = await Promise.allSettled(Array.from({ length: count }, () => names(sleepy)))
      return ended.map((one) => (one.status === 'rejected' ? String(one.reason.message) : 'listed'))
    }
    const WAITED = "The tool server 'sleepy' did not answer within 300 ms."
    const LEFT = "The tool server 'sleepy' did not answer when it was last asked, and is left alone for 5 s."
    expect(await failures(1)).toEqual([WAITED])
    expect(await failures(50)).toEqual(Array(50).fill(LEFT))
    expect(lists()).toBe(1)
    clock.advance(5001)
    expect(await failures(50)).toEqual([WAITED, ...Array(49).fill(LEFT)])
    expect(lists()).toBe(2)

    // Who leaves says nothing of the server, and nobody waits for who asks in its place.
    clock.advance(5001)
    const leaving = newAbort<Error>()
    const left = servers.tools(sleepy, { signal: leaving })
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    expect(await failures(1)).toEqual([LEFT])
    own.wake()
    clock.advance(5001)
    await expect.poll(() => failures(1)).toEqual(['listed'])
    expect(await failures(20)).toEqual(Array(20).fill('listed'))
    await own.close()
  })

  it('is asked for its list again although the clock was set back since', async () => {
    const listed = () => asked('tools/list', from).length
    await names(at('plain'))
    const first = listed()
    clock.advance(-3_600_000)
    expect(await names(at('plain'))).toEqual(['say'])
    await expect.poll(listed).toBe(first + 1)
    await Promise.all(deferred)
    await names(at('plain'))
    expect(listed()).toBe(first + 1)

    const own = await startScriptedToolServer()
    const sleepy = toolServer(own.url('sleepy'), { key: 'sleepy', timeoutMs: 300 })
    await expect(names(sleepy)).rejects.toThrow('did not answer within 300 ms.')
    clock.advance(-3_600_000)
    own.wake()
    await expect.poll(() => names(sleepy).catch(String)).toEqual(['say'])
    await own.close()
  })

  it('has as long as it may take now, whatever it was when it was first asked', async () => {
    const changed = (behaviour: string, timeoutMs: number) => at(behaviour, { key: behaviour, timeoutMs })
    await call(changed('sleepy', 5000))
    await expect(names(changed('sleepy', 20))).rejects.toThrow('did not answer within 20 ms.')
    clock.advance(5001)
    await expect(names(changed('sleepy', 30))).rejects.toThrow('did not answer within 30 ms.')
    // A session that others open already ends within their time.
    const opened = (timeoutMs: number) => call(changed('silent-start', timeoutMs)).catch(({ message }) => message)
    expect(await opened(20)).toContain('did not answer within 20 ms.')
    await expect.poll(() => opened(30)).toContain('did not answer within 30 ms.')
    await call(at('plain'))
    await call(at('plain', { timeoutMs: 6000 }))
    expect(asked('initialize', from).filter(({ path }) => path.endsWith('plain'))).toHaveLength(1)
  })

  it('shows an old list of a server that fails, as long as it is of use', async () => {
    const server = at('plain')
    expect(await names(server)).toEqual(['say'])
    const gone = await startScriptedToolServer()
    const moved = toolServer(gone.url('plain'), { key: 'gone' })
    expect(await names(moved)).toEqual(['say'])
    await gone.close()
    clock.advance(120_000)
    expect(await names(moved)).toEqual(['say'])
    clock.advance(600_000)
    await expect(names(moved)).rejects.toMatchObject({ kind: 'unreachable' })
  })
})
