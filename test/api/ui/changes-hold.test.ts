import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')

describe.skipIf(!postgresUrl || !redisUrl)(
  'a change in the admin API holds from the next request of another process',
  () => {
    let here: FullGateway
    let elsewhere: FullGateway
    const ask = adminApi(() => here)

    beforeAll(async () => {
      const yaml = [
        `general_settings: { database_url: '${await preparedDatabase(postgresUrl as string)}', redis_url: '${redisUrl}', max_failed_authentications: 0 }`,
        'model_list:',
        '  - model_name: m',
        '    gateway_params: { model: echo/m }',
        '    model_info: { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }',
      ].join('\n')
      ;[here, elsewhere] = await Promise.all([startFullGateway(yaml), startFullGateway(yaml)])
    })
    afterAll(async () => {
      await Promise.all([here?.close(), elsewhere?.close()])
    })

    async function call(key: string, gateway = elsewhere): Promise<{ status: number; code: string | null }> {
      const response = await gateway.fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
      })
      const body = (await response.json()) as { error?: { code: string | null } }
      return { status: response.status, code: body.error?.code ?? null }
    }

    async function newKey(body: object = {}): Promise<{ key: string; key_id: string }> {
      const made = await ask('POST', '/keys', body)
      expect(made.status).toBe(201)
      return made.body
    }

    it('a new key works, a regenerated one only by its new text', async () => {
      const { key, key_id } = await newKey()
      expect(await call(key)).toMatchObject({ status: 200 })
      const again = (await ask('POST', `/keys/${key_id}/regenerate`)).body.key
      expect(await call(key)).toEqual({ status: 401, code: 'invalid_api_key' })
      expect(await call(again)).toMatchObject({ status: 200 })
      expect(await call(key, here)).toMatchObject({ status: 401 })
    })

    it.each([
      ['revoked', 'POST', '/revoke'],
      ['removed', 'DELETE', ''],
    ])('a %s key ends', async (_, method, action) => {
      const { key, key_id } = await newKey()
      expect(await call(key)).toMatchObject({ status: 200 })
      expect((await ask(method, `/keys/${key_id}${action}`)).status).toBe(200)
      const headers = { authorization: `Bearer ${key}` }
      expect((await elsewhere.fetch('/v1/models', { headers })).status).toBe(401)
      expect((await elsewhere.fetch('/ui/api/keys', { headers })).status).toBe(401)
      for (let turn = 0; turn < 3; turn++) expect(await call(key)).toEqual({ status: 401, code: 'invalid_api_key' })
    })

    it.each(['revoke', 'regenerate'])('a key that is in use all the while ends with its %s', async (action) => {
      const { key, key_id } = await newKey()
      const after: number[] = []
      let done = false
      const users = [1, 2, 3, 4].map(async () => {
        for (let turn = 0; turn < 40; turn++) {
          const since = done
          const { status } = await call(key)
          if (since) after.push(status)
        }
      })
      await wait(20)
      await ask('POST', `/keys/${key_id}/${action}`)
      done = true
      await Promise.all(users)
      expect(after.length).toBeGreaterThan(0)
      expect(new Set(after)).toEqual(new Set([401]))
    })

    it('the end of a key, its addresses and its limits', async () => {
      const { key, key_id } = await newKey()
      const path = `/keys/${key_id}`
      for (const [change, status, code] of [
        [{ expires_at: '2020-01-01T00:00:00Z' }, 401, 'expired_api_key'],
        [{ expires_at: null, allowed_ips: ['10.0.0.0/8'] }, 403, 'address_not_allowed'],
        [{ allowed_ips: null, rph_limit: 0 }, 429, 'key_rph_exceeded'],
        [{ rph_limit: null, max_parallel_requests: 0 }, 429, 'key_parallel_requests_exceeded'],
        [{ max_parallel_requests: null, max_budget: 0 }, 429, 'budget_exceeded'],
        [{ max_budget: null }, 200, null],
      ] as const) {
        expect(await call(key)).not.toEqual({ status, code })
        expect((await ask('PATCH', path, change)).status).toBe(200)
        expect(await call(key), JSON.stringify(change)).toEqual({ status, code })
      }
    })

    it.each([
      ['organizations', 'organization_id', 'org'],
      ['teams', 'team_id', 'team'],
      ['users', 'user_id', 'user'],
    ])('the limits of %s', async (path, id, level) => {
      const made = (await ask('POST', `/${path}`, {})).body
      const { key } = await newKey({ [id]: made[id] })
      expect(await call(key)).toMatchObject({ status: 200 })
      for (const field of ['rpm_limit', 'tpm_limit', 'rph_limit', 'rpd_limit', 'tpd_limit']) {
        await ask('PATCH', `/${path}/${made[id]}`, { [field]: 0 })
        expect(await call(key)).toEqual({ status: 429, code: `${level}_${field.slice(0, 3)}_exceeded` })
        await ask('PUT', `/${path}/${made[id]}`, {})
        expect(await call(key)).toMatchObject({ status: 200 })
      }
      await ask('PATCH', `/${path}/${made[id]}`, { max_budget: 0 })
      expect(await call(key)).toMatchObject({ status: 429, code: 'budget_exceeded' })
    })

    it('what was spent is shown, ends with its period, and with its record', async () => {
      const team = { team_id: `spender-${crypto.randomUUID()}`, budget_duration: '30d', max_budget: 5 }
      await ask('POST', '/teams', team)
      const { key, key_id } = await newKey({ team_id: team.team_id })
      expect(await call(key)).toMatchObject({ status: 200 })
      const deadline = Date.now() + 15_000
      let spend = 0
      while (spend === 0 && Date.now() < deadline) {
        await wait(50)
        spend = (await ask('GET', `/keys/${key_id}`)).body.spend
      }
      expect(spend).toBeGreaterThan(0.001)
      expect((await ask('GET', `/teams?search=${team.team_id}`)).body.data).toMatchObject([{ spend }])
      expect((await ask('PATCH', `/teams/${team.team_id}`, { budget_duration: '30d' })).body.spend).toBe(spend)
      expect((await ask('PATCH', `/teams/${team.team_id}`, { budget_duration: '1mo' })).body.spend).toBe(0)
      expect((await ask('PATCH', `/teams/${team.team_id}`, { budget_duration: '30d' })).body.spend).toBe(0)
      await ask('DELETE', `/keys/${key_id}`)
      expect((await ask('DELETE', `/teams/${team.team_id}`)).status).toBe(200)
      const lasting = { team_id: team.team_id, max_budget: 0.05 }
      for (let life = 0; life < 3; life++) {
        await ask('POST', '/teams', lasting)
        const one = await newKey({ team_id: team.team_id })
        while ((await call(one.key)).status === 200);
        await wait(600)
        await ask('DELETE', `/keys/${one.key_id}`)
        // What this life has spent, and none before it.
        expect((await ask('DELETE', `/teams/${team.team_id}`)).body.spend).toBe(0.05)
      }
    })

    it('a key is nobody of the administration', async () => {
      const { key } = await newKey()
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      for (const path of ['/keys', '/teams', '/organizations', '/users', '/audit/events', '/teams/x/members']) {
        const response = await here.fetch(`/ui/api${path}`, { headers })
        expect(response.status, path).toBe(403)
        expect(await response.json()).toMatchObject({ error: { type: 'permission_error', code: 'missing_permission' } })
      }
    })
  },
)
