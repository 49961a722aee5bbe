import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { successorOf } from '../../../src/lib/sealing/salt-key.ts'
import { findingsOf } from '../../../src/runtimes/node/commands/doctor/doctor.node.ts'
import { type GatewayProcess, type Place, place } from '../../runtimes/node/gateway-process.ts'
import { ended, makeBatch } from '../../support/batch-processes.node.ts'
import { configuration } from '../../support/configuration.ts'
import { alsoSignedIn, type SignedIn, signedIn } from '../../support/people.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { enroll, stepNow, totp } from '../../support/second-factor.ts'

const [postgresUrl, redisUrl] = [inject('postgresUrl'), inject('redisUrl')]
const OLD = 'salt-of-the-fleet-5d1e08c4f2'
const NEW = successorOf(OLD)
const PROVIDER_KEY = 'sk-provider-5d1e08c4f2a7'
const ITEMS = 400

/** A provider that answers only who brings its key. */
async function startProvider() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    const isKnown = request.headers.authorization === `Bearer ${PROVIDER_KEY}`
    const message = { role: 'assistant', content: `${JSON.parse(body).messages.length} messages` }
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    await new Promise((resolve) => setTimeout(resolve, 20))
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    response.end(
      isKnown ? JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }) : '{}',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe.skipIf(!postgresUrl || !redisUrl)('the salt key of two gateways over one PostgreSQL and one Redis', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>
  let sql: pg.Pool
  let database: string
  let home: Place
  beforeAll(async () => {
    home = await place()
    provider = await startProvider()
    database = await preparedDatabase(postgresUrl)
    sql = new pg.Pool({ connectionString: database, max: 2 })
  })
  afterAll(async () => {
    await home?.clear()
    await sql?.end()
    provider?.close()
  })

  const yaml = () =>
    configuration({
      general_settings: {
        database_url: database,
        redis_url: redisUrl,
        embeddings_batch_enabled: true,
        batch_concurrency: 4,
      },
      model_list: [],
    })

  const begun = (keys: Record<string, string>) =>
    home.start({ yaml: yaml(), env: { GATEWAY_DRAIN_SECONDS: '20', ...keys } })

  async function started(keys: Record<string, string>): Promise<GatewayProcess> {
    const gateway = await begun(keys)
    await gateway.greeted()
    return gateway
  }

  /** Resolves with what a start says that does not come about. */
  async function refused(keys: Record<string, string>): Promise<string> {
    const gateway = await begun(keys)
    expect(await gateway.ended).toMatchObject({ code: 1 })
    expect(gateway.errors()).not.toContain(OLD)
    return gateway.errors()
  }

  async function sealedSecretsOf(keys: Record<string, string>): Promise<string | undefined> {
    const found = await findingsOf({
      GATEWAY_CONFIG: '/dev/null',
      GATEWAY_DATA_DIR: home.folder,
      GATEWAY_MASTER_KEY: 'sk-master-key-of-the-doctor-5e1f',
      DATABASE_URL: database,
      PORT: '0',
      ...keys,
    })
    const finding = found.find(({ check }) => check === 'sealed secrets')
    return finding && `${finding.state} ${finding.says}`
  }

  it('is replaced under calls, and nothing fails', { timeout: 240_000 }, async () => {
    const live = [await started({ GATEWAY_SALT_KEY: OLD }), await started({ GATEWAY_SALT_KEY: OLD })]
    const any = (at: number) => live[at % 2] as GatewayProcess
    const admin = async (gateway: GatewayProcess, path: string, body: object, method = 'POST') => {
      const init = { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const answer = await gateway.fetch(`/ui/api/${path}`, init)
      if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    await admin(any(0), 'credentials', {
      name: 'account',
      provider: 'openai-compatible',
      gateway_params: { api_key: PROVIDER_KEY, api_base: `${provider.url}/v1` },
    })
    const params = { model: 'openai-compatible/m', api_base: `${provider.url}/v1` }
    await admin(any(0), 'models', {
      deployment_id: 'm-1',
      model_name: 'm',
      gateway_params: { ...params, api_key: PROVIDER_KEY },
    })
    await admin(any(0), 'models', {
      deployment_id: 'n-1',
      model_name: 'n',
      gateway_params: { model: 'openai-compatible/m', credential: 'account' },
    })
    // What one is told, the other knows within seconds.
    await expect.poll(async () => (await any(1).chat({ model: 'n' })).status).toBe(200)
    const signing = async (gateway: GatewayProcess) => ({
      url: await gateway.base(),
      saltKey: OLD,
      sql: {
        async batch(statements: readonly { sql: string; parameters: readonly unknown[] }[]) {
          for (const one of statements) await sql.query(one.sql, [...one.parameters])
          return []
        },
      },
    })
    const person: SignedIn = await signedIn(await signing(any(0)))
    const { secret, recoveryCodes } = await enroll(person)
    // Nobody calls with it until the end.
    const unused = String((await admin(any(0), 'keys', {})).key)
    const keys: string[] = [String((await admin(any(0), 'keys', {})).key)]

    // Calls, conversations and a session, until the end.
    const statuses: Record<string, number> = {}
    const wrong: string[] = []
    const count = async (what: string, answering: Promise<Response>) => {
      const answer = await answering.catch((error: Error) => new Response(String(error.cause), { status: 599 }))
      const text = await answer.text()
      const named = `${what} ${answer.status}`
      statuses[named] = (statuses[named] ?? 0) + 1
      if (answer.status !== 200) {
        wrong.push(`${named}: ${text}`)
        over = true
      }
      return text
    }
    let over = false
    const json = { 'content-type': 'application/json' }
    const as = (key: string) => ({ ...json, authorization: `Bearer ${key}` })
    async function calls(at: number): Promise<void> {
      let previous: string | undefined
      for (let turn = at; !over; turn++) {
        const headers = as(keys[turn % keys.length] as string)
        const model = turn % 3 === 0 ? 'n' : 'm'
        await count('chat', any(turn).chat({ model }, { headers }))
        const body = JSON.stringify({
          model: 'm',
          input: 'and?',
          ...(previous ? { previous_response_id: previous } : {}),
        })
        const init = { method: 'POST', body, headers: as(keys[0] as string) }
        const text = await count('response', any(turn).fetch('/v1/responses', init))
        previous = over || turn % 5 === 4 ? undefined : JSON.parse(text).id
        const cookie = { cookie: `gateway_session=${person.token}`, authorization: '' }
        await count('session', fetch(`${await any(turn).base()}/auth/me`, { headers: cookie }))
        await wait(250)
      }
    }
    const calling = [0, 1, 2, 3].map(calls)
    const batch = await makeBatch(any(0), ITEMS)

    /** Replaces both gateways, one after the other; `between` is done while they differ. */
    async function roll(env: Record<string, string>, between?: () => Promise<void>): Promise<void> {
      for (const slot of [0, 1]) {
        const before = live[slot] as GatewayProcess
        live[slot] = await started(env)
        before.kill('SIGTERM')
        expect(await before.ended).toMatchObject({ code: 0 })
        if (slot === 0) await between?.()
      }
    }
    /** A key made by one is used at the other at once, and a revoked one ends at both. */
    async function keysWork(): Promise<void> {
      for (const [maker, user] of [live, [...live].reverse()] as [GatewayProcess, GatewayProcess][]) {
        const made = await admin(maker, 'keys', {})
        const headers = as(String(made.key))
        for (const gateway of [user, maker]) expect((await gateway.chat({ model: 'n' }, { headers })).status).toBe(200)
        expect((await maker.fetch(`/ui/api/keys/${made.key_id}/revoke`, { method: 'POST' })).status).toBeLessThan(300)
        for (const gateway of [user, maker]) expect((await gateway.chat({ model: 'n' }, { headers })).status).toBe(401)
        keys.push(String((await admin(maker, 'keys', {})).key))
      }
    }

    expect(await refused({ GATEWAY_SALT_KEY: NEW })).toMatch(/2 models.*GATEWAY_SALT_KEY_PREVIOUS/)
    expect(await refused({ GATEWAY_SALT_KEY: OLD, GATEWAY_SALT_KEY_NEXT: 'another-salt-5d1e08c4f2' })).toMatch(
      /salt_key_next.*model-gateway salt-key/,
    )

    const learning = { GATEWAY_SALT_KEY: OLD, GATEWAY_SALT_KEY_NEXT: NEW }
    await roll(learning, keysWork)
    expect(await sealedSecretsOf(learning)).toMatch(/^ok the next salt key is known/)

    const using = { GATEWAY_SALT_KEY: NEW, GATEWAY_SALT_KEY_PREVIOUS: OLD }
    expect(await sealedSecretsOf(using)).toMatch(/^warn 1 credentials, 2 models, 1 second factors are still/)
    await roll(using, async () => {
      await keysWork()
      // Sealed by the one that uses the new key, and read by the one that has learned it.
      await admin(live[0] as GatewayProcess, 'models', {
        deployment_id: 'late-1',
        model_name: 'late',
        gateway_params: { ...params, api_key: PROVIDER_KEY },
      })
      const answer = async () => (await (live[1] as GatewayProcess).chat({ model: 'late' })).status
      await expect.poll(answer).toBe(200)
    })
    const told = () => live.flatMap((gateway) => gateway.logged('salt_key.previous_unneeded'))
    await expect.poll(told, { timeout: 90_000 }).not.toEqual([])
    expect(live.flatMap((gateway) => gateway.logged('salt_key.resealed'))).toMatchObject([{ unreadable: 0 }])
    expect(await sealedSecretsOf(using)).toMatch(/^ok none is sealed under the former/)
    const { rows } = await sql.query("SELECT 1 FROM gateway_model WHERE sealed NOT LIKE 'v2-%'")
    expect(rows).toEqual([])
    // As `responses_retention` would: conversations that were begun under the former key have ended.
    const turns = () => statuses['response 200'] ?? 0
    const enough = turns() + 40
    await expect.poll(turns).toBeGreaterThan(enough)

    expect(await refused({ GATEWAY_SALT_KEY: OLD })).toMatch(/GATEWAY_SALT_KEY_NEXT/)
    const alone = { GATEWAY_SALT_KEY: NEW }
    await roll(alone, keysWork)

    expect(await ended(any(0), batch)).toMatchObject({
      status: 'completed',
      request_counts: { total: ITEMS, completed: ITEMS, failed: 0 },
    })
    over = true
    await Promise.all(calling)
    expect(wrong.slice(0, 5)).toEqual([])
    expect(Object.keys(statuses).sort()).toEqual(['chat 200', 'response 200', 'session 200'])
    expect((await any(0).chat({ model: 'm' }, { headers: as(unused) })).status).toBe(200)
    for (const code of [totp(secret, stepNow() + 1), String(recoveryCodes[0])]) {
      const page = await alsoSignedIn(await signing(any(1)), person)
      expect((await page.ask('POST', '/auth/mfa/verify', { code })).status).toBe(200)
    }
  })
})
