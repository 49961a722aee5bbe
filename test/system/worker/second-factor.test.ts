import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { alsoSignedIn, type Signing, signedIn } from '../../support/people.ts'
import { enroll, stepNow, totp } from '../../support/second-factor.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, SALT_KEY, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const yaml = 'model_list: [{ model_name: echo, gateway_params: { model: echo/echo } }]'

describe.skipIf(!edgeExists())('on workerd, the second factor', () => {
  let edge: Edge
  let workers: readonly [Workerd, Workerd]
  let sql: Sql

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), yaml)
    workers = [await startWorkerd(modules, edge.variables), await startWorkerd(modules, edge.variables)]
    sql = nodePostgresSql({ connectionString: edge.databaseUrl })
    // The first request of an isolate sets up the database.
    for (const { url } of workers) {
      const response = await fetch(`${url}/ui/api/keys`, { headers: { authorization: `Bearer ${MASTER_KEY}` } })
      expect(response.status, await response.text()).toBe(200)
    }
  })
  afterAll(async () => {
    await sql?.close()
    await Promise.all((workers ?? []).map((worker) => worker.stop()))
    await edge?.close()
  })

  it('is set up in one isolate, demanded in the other at once, and proved there once', async () => {
    const [one, other] = workers.map(({ url }): Signing => ({ url, sql, saltKey: SALT_KEY })) as [Signing, Signing]
    const person = await signedIn(one, { role: 'platform_admin' })
    const elsewhere = await alsoSignedIn(other, person)
    expect((await elsewhere.ask('GET', '/ui/api/keys')).status).toBe(200)
    const { secret, recoveryCodes } = await enroll(person)
    expect((await person.ask('GET', '/auth/me')).body).toMatchObject({ standing: 'complete', mfa_verified: true })
    const refused = await elsewhere.ask('GET', '/ui/api/keys')
    expect([refused.status, refused.body.error.code]).toEqual([403, 'mfa_required'])
    const pages = [elsewhere, await alsoSignedIn(one, person), await alsoSignedIn(other, person)]
    const code = totp(secret, stepNow() + 1)
    const answers = await Promise.all(pages.map((page) => page.ask('POST', '/auth/mfa/verify', { code })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    const late = pages[answers.findIndex(({ status }) => status === 401)]
    const verified = await late?.ask('POST', '/auth/mfa/verify', { code: recoveryCodes[0] })
    expect([verified?.status, verified?.body.standing]).toEqual([200, 'complete'])
    expect((await late?.ask('GET', '/ui/api/keys'))?.status).toBe(200)
  })
})
