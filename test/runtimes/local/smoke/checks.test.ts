import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { checks } from '../../../../src/runtimes/local/smoke/checks/index.node.ts'
import { type Report, runSmoke } from '../../../../src/runtimes/local/smoke/run.node.ts'
import { smoke } from '../../../../src/runtimes/local/smoke/smoke.node.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { configOf, MASTER_KEY } from '../../../support/gateway.ts'
import { answer, slowBetween } from '../../../support/upstream/index.ts'
import { upstreamClient } from '../../../support/upstream-client.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'
import { type Passing, type Tampering, type TamperingProxy, tamperingProxy } from './tampering-proxy.node.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const MODELS = ['smoke-all', 'smoke-short', 'smoke-long']
const counting = (words: number, ms: number) => answer({ text: 'one '.repeat(words) }, slowBetween({ ms }))

// biome-ignore lint/suspicious/noExplicitAny: whatever the gateway answers.
type Body = any

const changed = (at: string, edit: (body: Body, answer: Passing) => unknown, status?: number): Tampering => ({
  change: (to, given) =>
    to === at
      ? { ...given, status: status ?? given.status, body: JSON.stringify(edit(JSON.parse(given.body), given)) }
      : given,
})
const instance = (fields: object) => changed('GET /ui/api/instance', (body) => ({ ...body, ...fields }))
const text = (edit: (given: Passing) => Partial<Passing>): Tampering => ({
  change: (_, given) => ({ ...given, ...edit(given) }),
})

/** What goes wrong between a client and the gateway, by the check that must see it. */
const WRONGS: readonly (readonly [check: string, wrong: string, how: Tampering, words: RegExp, model?: string])[] = [
  [
    'readiness',
    'the database is away',
    changed('GET /health/readiness', () => ({ checks: { redis: true, database: false } }), 503),
    /away: database/,
  ],
  [
    'headers',
    'the request id is stripped',
    text(({ headers: { 'x-request-id': _, ...headers } }) => ({ headers })),
    /x-request-id is missing/,
  ],
  [
    'headers',
    'a cache is told to keep answers',
    text(({ headers }) => ({ headers: { ...headers, 'cache-control': 'max-age=60' } })),
    /cache-control is 'max-age=60'/,
  ],
  [
    'clock',
    'it is a minute slow',
    text(({ headers }) => ({ headers: { ...headers, date: new Date(Date.now() - 60_000).toUTCString() } })),
    /5[89](\.\d)? s|6\d(\.\d)? s/,
  ],
  ['call', 'the usage is lost', changed('POST /v1/chat/completions', ({ usage: _, ...body }) => body), /no usage/],
  [
    'call',
    'the provider fails',
    changed('POST /v1/chat/completions', () => ({ error: { message: 'Bad gateway.' } }), 502),
    /502: Bad gateway/,
  ],
  ['stream', 'it is buffered', text(() => ({})), /in 1 reads, .*something in between buffers/],
  [
    'stream',
    'its end is cut',
    text(({ body }) => ({ body: body.replace('data: [DONE]', '') })),
    /does not end with \[DONE\]/,
  ],
  [
    'stream',
    'its type is changed',
    text(({ headers }) => ({ headers: { ...headers, 'content-type': 'text/plain' } })),
    /text\/plain/,
  ],
  ['leaving', 'the gateway does not hear of it', { keepsTheDead: true }, /still taken/, 'smoke-long'],
  [
    'limit',
    'it is not enforced',
    changed('POST /v1/chat/completions', (body, { status }) => (status === 429 ? { choices: [] } : body), 200),
    /^10 passed, 0 were refused/,
  ],
  [
    'revoke',
    'it gets lost',
    { instead: (to) => (to.endsWith('/revoke') ? { status: 200, headers: {}, body: '{}' } : undefined) },
    /5 of 5 requests were answered with 200/,
  ],
  ['ledger', 'the row does not come', changed('GET /ui/api/logs', () => ({ data: [] })), /not there after/],
  [
    'store',
    'it is far',
    instance({ store: { kind: 'redis', mode: 'shared', ok: true, latency_ms: 5000 } }),
    /5000 ms, \d+ ms at most/,
  ],
  ['store', 'it is away', instance({ store: { kind: 'redis', mode: 'degraded', ok: true, latency_ms: 1 } }), /away/],
  [
    'database',
    'it does not answer',
    instance({ database: { kind: 'postgresql', ok: false, latency_ms: null } }),
    /does not answer/,
  ],
  [
    'queue',
    'work waits for long',
    instance({ queue: { waiting: 9, dead: 0, oldest_sent_at: '2026-01-01T00:00:00Z' } }),
    /oldest has waited/,
  ],
  ['queue', 'work is dead', instance({ queue: { waiting: 0, dead: 3, oldest_sent_at: null } }), /3 jobs are dead/],
  ['cron', 'it does not run', instance({ clock_ran_at: null }), /did not run/],
  [
    'strangers',
    'they are let in',
    { instead: (to) => (to === 'GET /ui/api/config' ? { status: 200, headers: {}, body: '{}' } : undefined) },
    /answered with 200/,
  ],
  [
    'sealed',
    'a setting is shown',
    changed('GET /ui/api/config', ({ data }) => ({ data: data.map((row: object) => ({ ...row, value: 'x' })) })),
    /salt_key/,
  ],
  [
    'secrets',
    'the key is in an answer',
    changed('GET /v1/models', (body) => ({ ...body, key: MASTER_KEY })),
    /GET \/v1\/models shows the key/,
  ],
  [
    'secrets',
    'an address with a password is in an answer',
    changed('GET /v1/models', (body) => ({ ...body, at: 'postgres://me:word@host/x' })),
    /an address with a password/,
  ],
]

/** Checks that wait out their bound before they fail. */
const WAITING = new Set(['leaving', 'ledger', 'cron'])

const wrongs = WRONGS.map(([check, wrong, how, words, model = 'smoke-short']) => ({ check, wrong, how, words, model }))

describe('a smoke test', () => {
  const gateway = withFullGateway(() =>
    configOf(`${upstream.url}/of-smoke`, Object.fromEntries(MODELS.map((name) => [name, [name]]))),
  )
  const admin = adminApi(() => gateway)
  let proxy: TamperingProxy
  beforeAll(async () => {
    proxy = await tamperingProxy(gateway.url)
    // A whole call, a streamed one, one that is left, and short ones.
    await upstream.script('smoke-all', [answer(), counting(40, 20), counting(300, 60), answer()])
    await upstream.script('smoke-short', [counting(25, 25)])
    await upstream.script('smoke-long', [counting(300, 60)])
  })
  afterAll(() => proxy?.close())
  const run = (model: string, more: object = {}) => runSmoke({ url: proxy.url, key: MASTER_KEY, model, ...more })
  const resultsOf = ({ rows }: Report) => Object.fromEntries(rows.map(({ name, result }) => [name, result]))
  const keysLeft = async () => (await admin('GET', '/keys')).body.data

  it('passes on Node with a key that may administer, and leaves no key behind', async () => {
    proxy.tamper({})
    const report = await run('smoke-all', { patience: 5 })
    expect(report.rows.filter(({ result }) => result !== 'passed')).toEqual([])
    expect(report.rows).toHaveLength(checks.length)
    expect(await keysLeft()).toEqual([])
    const left = (await upstream.calls('smoke-all')).filter(({ outcome }) => outcome === 'client_closed')
    expect(left).toHaveLength(1)
  })

  it('checks with any other key what that may see, and says what it did not check', async () => {
    proxy.tamper({})
    const { key, key_id } = (await admin('POST', '/keys', {})).body
    const report = await runSmoke({ url: `${gateway.url}/`, key, model: 'smoke-short', patience: 5 })
    const results = resultsOf(report)
    for (const { name, needsAdmin } of checks) expect(results[name], name).toBe(needsAdmin ? 'not checked' : 'passed')
    await admin('DELETE', `/keys/${key_id}`)
  })

  it.each(wrongs)('$check fails where $wrong', async ({ check, how, words, model }) => {
    proxy.tamper(how)
    const { rows } = await run(model, { only: [check], patience: WAITING.has(check) ? 0.02 : 1 })
    proxy.tamper({})
    expect(rows).toMatchObject([{ name: check, result: 'failed', detail: expect.stringMatching(words) }])
    expect(await keysLeft()).toEqual([])
  })

  it('has a wrong for each check; that of transport is judged from its facts', () => {
    const tried = new Set([...WRONGS.map(([check]) => check), 'transport'])
    expect(checks.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([])
  })

  it('finds what keeps browsers on https where they came by it, and there alone', async () => {
    const page = async (headers: Record<string, string>) => (await fetch(`${gateway.url}/console`, { headers })).headers
    expect((await page({ 'x-forwarded-proto': 'https' })).get('strict-transport-security')).toBe('max-age=31536000')
    expect((await page({})).get('strict-transport-security')).toBeNull()
  })

  it('says which keys it could not delete', async () => {
    proxy.tamper({ instead: (to) => (to.startsWith('DELETE') ? { status: 500, headers: {}, body: '{}' } : undefined) })
    const { rows } = await run('smoke-short', { only: ['revoke'] })
    proxy.tamper({})
    const [{ key_id }] = await keysLeft()
    expect(rows.at(-1)).toMatchObject({ name: 'cleanup', result: 'failed', detail: expect.stringContaining(key_id) })
    await admin('DELETE', `/keys/${key_id}`)
  })

  it('begins nothing more once it is told to stop, and deletes its keys', async () => {
    const stopping = new AbortController()
    const running = runSmoke(
      { url: proxy.url, key: MASTER_KEY, model: 'smoke-short', only: ['revoke', 'strangers'], signal: stopping.signal },
      () => stopping.abort(),
    )
    expect(resultsOf(await running)).toEqual({ revoke: 'passed' })
    expect(await keysLeft()).toEqual([])
  })

  const command = async (...operands: string[]) => {
    const env = { ...process.env, GATEWAY_KEY: MASTER_KEY }
    const run = promisify(execFile)(process.execPath, ['src/node.ts', 'smoke', ...operands], { env })
    return run.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (failure: { code: number; stdout: string; stderr: string }) => failure,
    )
  }

  it('is a command, whose exit status says how it ended', async () => {
    proxy.tamper(instance({ queue: { waiting: 0, dead: 3, oldest_sent_at: null } }))
    const [passing, failing, refused] = await Promise.all([
      command(gateway.url, '--only', 'readiness,queue', '--json'),
      command(proxy.url, '--only', 'readiness,queue'),
      command(gateway.url, '--key', 'sk-of-nobody'),
    ])
    proxy.tamper({})
    expect([passing.code, failing.code, refused.code]).toEqual([0, 1, 2])
    expect(JSON.parse(passing.stdout)).toMatchObject({ admin: true, rows: [{ name: 'readiness' }, { name: 'queue' }] })
    expect(failing.stdout).toMatch(/^failed {7}queue .*\n +.*3 jobs are dead$/m)
    expect(failing.stdout).toContain('1 passed, 1 failed, 0 not checked')
    expect(refused.stderr).toContain('The key is refused: 401')
    for (const { stdout, stderr } of [passing, failing, refused]) {
      expect(stdout + stderr).not.toContain(MASTER_KEY)
      expect(stdout + stderr).not.toContain('sk-of-nobody')
    }
  })

  it.each([
    [['http://127.0.0.1:1'], /cannot be reached/],
    [['gateway.example'], /no address.*\n\nUsage/],
    [[], /Name one address/],
    [['http://127.0.0.1:1', '--colour'], /--colour/],
  ])('says what is wrong with %j', async (operands, words) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const silent = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      expect(await smoke(operands, { GATEWAY_KEY: MASTER_KEY })).toBe(2)
      expect(said.mock.calls.join('')).toMatch(words)
    } finally {
      said.mockRestore()
      silent.mockRestore()
    }
  })
})
