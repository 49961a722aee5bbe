import { describe, expect, inject, it } from 'vitest'
import { adminApi } from '../../support/admin-api.ts'
import { startFullGateway } from '../../support/full-gateway.node.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { switchable } from '../../system/worker/support/switchable.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')

// All at once, each with a gateway of its own: what takes time here is waiting for the store.
describe.skipIf(!postgresUrl || !redisUrl).concurrent('while the shared store is away', () => {
  it.each([
    ['fail_open', 'closed'],
    ['fail_open', 'stalled'],
    ['fail_closed', 'closed'],
    ['fail_closed', 'stalled'],
  ] as const)('(%s, %s) a change that is written is an answer, in time', { timeout: 60_000 }, async (mode, how) => {
    const line = await switchable(redisUrl as string)
    const database = await preparedDatabase(postgresUrl as string)
    const gateway = await startFullGateway(`
general_settings: { database_url: '${database}', redis_url: '${line.url}', degraded_mode: ${mode} }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]
`)
    try {
      const ask = adminApi(() => gateway)
      const { key_id } = (await ask('POST', '/keys', {})).body
      await line.set(how)
      const startedAt = performance.now()
      const made = await ask('POST', '/keys', { key_name: how })
      const answers = [
        made,
        await ask('PATCH', `/keys/${key_id}`, { rpm_limit: 5 }),
        await ask('POST', `/keys/${key_id}/regenerate`),
        await ask('POST', `/keys/${key_id}/revoke`),
        await ask('DELETE', `/keys/${key_id}`),
        await ask('POST', '/teams', {}),
      ]
      expect(answers.map(({ status, body }) => [status, body.pending])).toEqual(answers.map(() => [202, true]))
      expect(performance.now() - startedAt).toBeLessThan(6 * 2500)
      await line.set('open')
      expect((await ask('GET', `/keys/${made.body.key_id}`)).body).toMatchObject({ key_name: how })
    } finally {
      await line.set('open')
      await gateway.close()
      await line.close()
    }
  })
})
