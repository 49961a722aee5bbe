import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { actionOf, writes } from '../../../../src/api/middleware/audit.ts'
import { routes } from '../../../../src/app.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { browser, signedIn } from '../../../support/people.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

it('every write of the administration has an action of its own kind', () => {
  const written = routes.filter(({ contract }) => writes(contract)).map(({ contract }) => actionOf(contract))
  for (const action of written) expect(action).toMatch(/^[a-z_]+\.[a-z_]+$/)
  expect(written).toEqual(expect.arrayContaining(['key.regenerate', 'team_member.create', 'model.delete']))
  expect(written).not.toContainEqual(expect.stringMatching(/simulate|validate/))
  expect(actionOf({ method: 'patch', path: '/ui/api/teams/{team_id}' })).toBe('team.update')
  expect(actionOf({ method: 'post', path: '/ui/api/callable-target-policies' })).toBe('callable_target_policy.create')
  expect(actionOf({ method: 'put', path: '/ui/api/keys/{key_id}/model-access' })).toBe('key_model_access.update')
  expect(actionOf({ method: 'post', path: '/x', action: 'key.revoke' })).toBe('key.revoke')
})

describe('audit events', () => {
  const ask = adminApi(() => gateway)

  const gateway = withFullGateway('model_list: [{ model_name: m, gateway_params: { model: echo/m } }]')

  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  async function events(query: string, count: number): Promise<any[]> {
    const deadline = Date.now() + 15_000
    for (;;) {
      const { data } = (await ask('GET', `/audit/events?${query}`)).body
      if (data.length >= count || Date.now() > deadline) return data
      await wait(20)
    }
  }

  describe('of the administration', () => {
    it('tell who did what to which record, and what changed', async () => {
      await ask('POST', '/organizations', { organization_id: 'acme' })
      await ask('POST', '/teams', { team_id: 'red', organization_id: 'acme', rpm_limit: 10 })
      const response = await gateway.fetch('/ui/api/teams/red', {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', 'x-request-id': 'my-request', 'user-agent': '=cmd()' },
        body: JSON.stringify({ rpm_limit: 20, max_budget: 1.5, team_name: null }),
      })
      expect(response.status).toBe(200)
      const [event] = await events('action=team.update', 1)
      expect(event).toEqual({
        event_id: expect.stringMatching(/^audit_/),
        occurred_at: expect.stringMatching(/Z$/),
        actor_type: 'master_key',
        actor_id: null,
        actor_name: null,
        organization_id: 'acme',
        action: 'team.update',
        resource_type: 'team',
        resource_id: 'red',
        resource_name: null,
        request_id: 'my-request',
        ip: '127.0.0.1',
        user_agent: '=cmd()',
        status: 200,
        changes: { rpm_limit: { old: 10, new: 20 }, max_budget: { old: null, new: 1.5 } },
        metadata: {},
      })
      const [created] = await events('resource_type=team&action=team.create', 1)
      expect(created).toMatchObject({ resource_id: 'red', changes: { rpm_limit: { old: null, new: 10 } } })
    })

    it('tell of refusals too', async () => {
      await ask('POST', '/teams', { team_id: 'red' })
      await ask('DELETE', '/users/nobody')
      await ask('PATCH', '/teams/red', { rpm_limit: -1 })
      const refused = await events('action=team.create', 2)
      expect(refused[0]).toMatchObject({ status: 409, changes: {} })
      expect(await events('action=user.delete', 1)).toMatchObject([{ status: 404, resource_id: 'nobody' }])
      expect((await events('action=team.update', 2))[0]).toMatchObject({ status: 400, resource_id: 'red' })
    })

    it('show the auditors of an organization what was refused in it', async () => {
      for (const organization_id of ['mine', 'theirs']) await ask('POST', '/organizations', { organization_id })
      await ask('POST', '/teams', { team_id: 'crew', organization_id: 'mine' })
      await ask('POST', '/teams', { team_id: 'other-crew', organization_id: 'theirs' })
      await ask('POST', '/keys', { team_id: 'crew' })
      const auditor = await signedIn(gateway, { organizations: { mine: 'org_auditor' } })
      const member = await signedIn(gateway, { teams: { crew: 'team_viewer', 'other-crew': 'team_admin' } })
      const owner = await signedIn(gateway, { organizations: { mine: 'org_owner' }, teams: { crew: 'team_viewer' } })
      const viewer = await signedIn(gateway, { teams: { crew: 'team_viewer' } })
      const promotion = (to: typeof viewer) => ({ user_id: to.userId, role: 'team_admin' })
      const developer = await signedIn(gateway, { teams: { crew: 'team_developer' } })
      const refused = [
        await viewer.ask('POST', '/ui/api/teams/crew/members', promotion(viewer)),
        await member.ask('PATCH', '/ui/api/teams/crew', { rpm_limit: null }),
        await owner.ask('DELETE', '/ui/api/teams/crew'),
        await viewer.ask('PUT', '/ui/api/teams/crew/model-access', { mode: null }),
        await developer.ask('POST', '/ui/api/keys', { team_id: 'crew' }),
        await viewer.ask('PATCH', '/ui/api/teams/other-crew', { rpm_limit: null }),
      ]
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 409, 403, 403, 404])
      await events('resource_id=other-crew&status=refused', 1)
      const { data } = (await auditor.ask('GET', '/ui/api/audit/events?status=refused')).body
      const told = data.map((event: { action: string; actor_id: string; status: number }) => [
        event.action,
        event.actor_id,
        event.status,
      ])
      // Of the last one, its team's organization alone could be told, and that is another's.
      expect(told).toEqual([
        ['key.create', developer.accountId, 403],
        ['team_model_access.update', viewer.accountId, 403],
        ['team.delete', owner.accountId, 409],
        ['team.update', member.accountId, 403],
        ['team_member.create', viewer.accountId, 403],
      ])
    })

    it('tell of a virtual key that tried, and that it may not read them', async () => {
      const { key, key_id } = (await ask('POST', '/keys', { key_name: 'curious' })).body
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const tried = await gateway.fetch('/ui/api/keys', { method: 'POST', headers, body: '{}' })
      expect(tried.status).toBe(403)
      expect((await gateway.fetch('/ui/api/audit/events', { headers })).status).toBe(403)
      expect(await events(`actor_id=${key_id}`, 1)).toMatchObject([
        { actor_type: 'api_key', actor_id: key_id, action: 'key.create', status: 403 },
      ])
    })

    it('name who acted and on what, and are found by their ids, by several actions, by outcome and by request', async () => {
      const ann = await signedIn(gateway, { role: 'platform_admin' })
      const made = await ann.ask('POST', '/ui/api/keys', { key_name: 'build server' })
      const id = made.body.key_id
      const headers = { 'x-request-id': 'one-of-three' }
      await ann.ask('PATCH', `/ui/api/keys/${id}`, { rpm_limit: 5 }, headers)
      await ann.ask('PATCH', `/ui/api/keys/${id}`, { rpm_limit: -5 })
      const named = { actor_type: 'account', actor_name: ann.email, resource_name: 'build server' }
      const ofKey = await events(`resource_id=${id}&action=key.create,key.update`, 3)
      expect(ofKey.map(({ action, status }) => [action, status])).toEqual([
        ['key.update', 400],
        ['key.update', 200],
        ['key.create', 201],
      ])
      for (const event of ofKey.slice(0, 2)) expect(event).toMatchObject(named)
      expect(await events(`event_id=${ofKey[1].event_id}`, 1)).toEqual([ofKey[1]])
      const statuses = async (status: string) =>
        (await events(`resource_id=${id}&status=${status}`, 1)).map((event) => event.status)
      expect(await statuses('refused')).toEqual([400])
      expect(await statuses('ok')).toEqual([200, 201])
      expect(await statuses('201')).toEqual([201])
      expect(await events('request_id=one-of-three', 1)).toMatchObject([{ resource_id: id, status: 200 }])
      for (const query of ['status=fine', 'status=99', 'status=2.5']) {
        expect((await ask('GET', `/audit/events?${query}`)).body.error.param).toBe('status')
      }
    })

    it('tell nothing of requests without a credential, with which anybody could fill the database', async () => {
      const nobody = browser(gateway.url)
      const asked = [
        ['POST', '/auth/internal/logout', {}, 200],
        ['POST', '/auth/internal/login', {}, 400],
        ['POST', '/auth/internal/forgot-password', {}, 400],
        ['POST', '/auth/internal/change-password', {}, 401],
        ['POST', '/auth/mfa/verify', { code: '123456' }, 401],
        ['POST', '/auth/bootstrap', { token: 'x', email: 'a@example.com', password: 'a long enough password' }, 404],
        ['POST', '/auth/invitations/accept', {}, 400],
        ['GET', '/auth/callback?state=x', undefined, 404],
        ['POST', '/ui/api/keys', {}, 401],
      ] as const
      for (const [method, path, body, status] of asked) {
        expect((await nobody.ask(method, path, body)).status, path).toBe(status)
      }
      await ask('DELETE', '/users/behind-them')
      await events('resource_id=behind-them', 1)
      expect((await events('limit=1000', 0)).filter((event) => event.actor_type === 'anonymous')).toEqual([])
    })

    it('hold no key, no hash and no secret of a provider', async () => {
      const made = (await ask('POST', '/keys', {})).body
      const again = (await ask('POST', `/keys/${made.key_id}/regenerate`)).body
      await ask('POST', `/keys/${made.key_id}/revoke`)
      await ask('DELETE', `/keys/${made.key_id}`)
      const params = { model: 'openai/x', api_key: 'sk-canary-of-a-provider' }
      await ask('POST', '/models', { deployment_id: 'secretive', model_name: 's', gateway_params: params })
      await ask('PATCH', '/models/secretive', { gateway_params: { api_key: 'sk-other-canary', model: 'openai/y' } })
      const [change] = await events('action=model.update', 1)
      expect(change).toMatchObject({
        resource_id: 'secretive',
        changes: { gateway_params: { old: { model: 'openai/x' }, new: { model: 'openai/y' } } },
      })
      const ofKey = await events(`resource_id=${made.key_id}`, 4)
      expect(ofKey.map(({ action }) => action)).toEqual(['key.delete', 'key.revoke', 'key.regenerate', 'key.create'])
      expect(ofKey[1].changes.revoked_at).toMatchObject({ old: null, new: expect.any(String) })
      const text = await (await gateway.fetch('/ui/api/audit/events?limit=1000&format=jsonl')).text()
      for (const secret of ['canary', made.key, again.key, 'key_hash']) expect(text).not.toContain(secret)
    })

    it('hold what a path can say, and changes that are long by name only', async () => {
      await ask('DELETE', '/users/%00%ED%A0%80')
      const long = { a: 'x'.repeat(60_000) }
      await ask('POST', '/users', { user_id: 'long', metadata: long })
      expect((await events('action=user.delete&limit=1', 1))[0]).toMatchObject({ status: 404 })
      const [created] = await events('resource_id=long', 1)
      expect(created.changes.metadata).toEqual({ old: '…', new: '…' })
    })

    it('come in pages, and between two moments', async () => {
      await events('action=user.create', 1)
      const all = await events('limit=1000', 1)
      const seen: unknown[] = []
      let cursor = ''
      do {
        const { body } = await ask('GET', `/audit/events?limit=3&cursor=${cursor}`)
        seen.push(...body.data)
        cursor = body.next_cursor
      } while (cursor !== null)
      expect(seen).toEqual(all)
      const middle = all[Math.floor(all.length / 2)].occurred_at
      const before = (await ask('GET', `/audit/events?limit=1000&to=${middle}`)).body.data
      const since = (await ask('GET', `/audit/events?limit=1000&from=${middle}`)).body.data
      expect(before.length).toBeGreaterThan(0)
      expect(since.length).toBeGreaterThan(0)
      expect([...since, ...before]).toEqual(all)
      for (const query of [
        'from=yesterday',
        'cursor=x',
        'cursor=2026-01-01_x',
        'format=xml',
        'limit=0',
        'action=%00',
      ]) {
        expect((await ask('GET', `/audit/events?${query}`)).status, query).toBe(400)
      }
    })

    it('are exported as lines and as a table that no spreadsheet computes', async () => {
      const lines = await gateway.fetch('/ui/api/audit/events?format=jsonl&limit=2')
      expect(lines.headers.get('content-type')).toBe('application/jsonl')
      const parsed = (await lines.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(parsed).toEqual((await ask('GET', '/audit/events?limit=2')).body.data)
      const cursor = lines.headers.get('x-gateway-next-cursor')
      expect((await ask('GET', `/audit/events?limit=1&cursor=${cursor}`)).status).toBe(200)
      const table = await gateway.fetch('/ui/api/audit/events?format=csv&limit=1000&action=team.update')
      expect(table.headers.get('content-type')).toMatch(/^text\/csv/)
      expect(table.headers.get('x-gateway-next-cursor')).toBeNull()
      const text = await table.text()
      expect(text.split('\r\n')[0]?.split(',').toSorted()).toEqual(Object.keys(parsed[0]).toSorted())
      expect(text).toContain(`,'=cmd(),`)
      expect(text).toContain('"{""rpm_limit"":{""old"":10,""new"":20}')
    })

    it('have their metrics', async () => {
      const page = await (await gateway.fetch('/metrics')).text()
      expect(page).toMatch(/^gateway_audit_queue_depth \d+$/m)
      expect(page).toMatch(/^gateway_audit_ingestion_latency_seconds_count [1-9]\d*$/m)
      expect(page).toContain('# TYPE gateway_audit_write_failures_total counter')
      expect(page).toContain('# TYPE gateway_audit_events_dropped_total counter')
    })
  })
})
