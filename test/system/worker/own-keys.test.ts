import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { chatInit, MASTER_KEY } from '../../support/gateway.ts'
import { alsoSignedIn, type Signing, signedIn } from '../../support/people.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, SALT_KEY, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const yaml = 'model_list: [{ model_name: echo, gateway_params: { model: echo/echo } }]'

describe.skipIf(!edgeExists())('on workerd, keys of members', () => {
  let edge: Edge
  let workers: readonly [Workerd, Workerd]
  let sql: Sql

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    workers = [await startWorkerd(modules, edge.variables), await startWorkerd(modules, edge.variables)]
    sql = nodePostgresSql({ connectionString: edge.databaseUrl })
    for (const organization_id of ['acme', 'rival']) await admin('POST', '/organizations', { organization_id })
    const rules = { self_service_keys_enabled: true, self_service_max_keys_per_user: 3 }
    await admin('POST', '/teams', { team_id: 'red', organization_id: 'acme', ...rules })
    await admin('POST', '/teams', { team_id: 'green', organization_id: 'rival', ...rules })
  })
  afterAll(async () => {
    await sql?.close()
    await Promise.all((workers ?? []).map((worker) => worker.stop()))
    await edge?.close()
  })

  async function admin(method: string, path: string, body: object): Promise<void> {
    const response = await fetch(`${workers[0].url}/ui/api${path}`, {
      method,
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status, await response.text()).toBe(201)
  }
  const call = async ({ url }: Workerd, key: string) => {
    const body = { model: 'echo', messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${url}/v1/chat/completions`, chatInit(body, { headers }))).status
  }

  it('are as many as the team allows, from two isolates, and end in both when the member leaves', async () => {
    const [one, other] = workers.map(({ url }): Signing => ({ url, sql, saltKey: SALT_KEY })) as [Signing, Signing]
    const ann = await signedIn(one, { teams: { red: 'team_developer' } })
    const elsewhere = await alsoSignedIn(other, ann)
    expect((await elsewhere.ask('POST', '/ui/api/keys', { team_id: 'green' })).body.error.param).toBe('team_id')
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? ann : elsewhere).ask('POST', '/ui/api/keys', { team_id: 'red' }),
      ),
    )
    const keys = made.flatMap(({ body }) => (body.key === undefined ? [] : [body.key as string]))
    expect(keys).toHaveLength(3)
    const refused = made.filter(({ body }) => body.error?.code === 'self_service_key_limit')
    expect(refused).toHaveLength(17)
    for (const worker of workers) for (const key of keys) expect(await call(worker, key)).toBe(200)

    expect((await elsewhere.ask('GET', '/ui/api/teams/red')).status).toBe(200)
    const left = await ann.ask('DELETE', `/ui/api/teams/red/members/${ann.userId}`)
    expect([left.status, left.body.revoked_keys.length]).toEqual([200, 3])
    for (const worker of workers) for (const key of keys) expect(await call(worker, key)).toBe(401)
    expect((await elsewhere.ask('GET', '/ui/api/teams/red')).status).toBe(404)
  })
})
