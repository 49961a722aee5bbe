import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { newToken } from '../../../src/lib/token.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { browser } from '../../support/people.ts'
import { workerModules } from './support/built-once.ts'
import { type Edge, edgeExists, SALT_KEY, startEdge } from './support/edge.ts'
import { withConfig } from './support/worker-modules.ts'
import { startWorkerd, type Workerd } from './support/workerd.ts'

const EMAIL = 'ann@example.com'
const [FIRST, SECOND, THIRD] = [
  'correct horse battery staple',
  'another horse, another staple',
  'the third of all horses',
]

describe.skipIf(!edgeExists())('on workerd, passwords', { timeout: 120_000 }, () => {
  let edge: Edge
  let one: Workerd
  let other: Workerd
  let database: pg.Client

  beforeAll(async () => {
    edge = await startEdge()
    const modules = withConfig(await workerModules(), 'model_list: []')
    one = await startWorkerd(modules, edge.variables)
    other = await startWorkerd(modules, edge.variables)
    database = new pg.Client(edge.databaseUrl)
    await database.connect()
  })
  afterAll(async () => {
    await database?.end()
    await Promise.all([one?.stop(), other?.stop()])
    await edge?.close()
  })

  it('are hashed, compared, changed and reset, over two isolates', async () => {
    const made = await browser(one.url).ask(
      'POST',
      '/auth/bootstrap',
      { email: EMAIL, password: FIRST },
      { authorization: `Bearer ${MASTER_KEY}` },
    )
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300)
    const login = (worker: Workerd, password: string) => {
      const page = browser(worker.url)
      return page
        .ask('POST', '/auth/internal/login', { email: EMAIL, password })
        .then((answer) => ({ page, ...answer }))
    }
    const [here, there] = [await login(one, FIRST), await login(other, FIRST)]
    expect([here.status, there.status]).toEqual([200, 200])
    for (const password of ['a wrong password', '\ud800', '\0'.repeat(20)])
      expect((await login(one, password)).status).toBe(401)

    const changed = await here.page.ask('POST', '/auth/internal/change-password', {
      current_password: FIRST,
      new_password: SECOND,
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    expect((await there.page.ask('GET', '/ui/api/keys')).status).toBe(401)
    expect((await here.page.ask('GET', '/ui/api/keys')).status).toBe(200)

    const token = newToken()
    await database.query(
      `INSERT INTO gateway_password_reset (token_hash, account_id, expires_at)
       SELECT $1, account_id, now() + interval '1 hour' FROM gateway_account`,
      [keyHasher(SALT_KEY)(token)],
    )
    const resets = await Promise.all(
      [one, other, one, other].map((worker) =>
        browser(worker.url).ask('POST', '/auth/internal/reset-password', { token, new_password: THIRD }),
      ),
    )
    expect(resets.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect((await here.page.ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    expect((await login(other, THIRD)).status).toBe(200)
  })
})
