import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newToken } from '../../../../src/lib/token.ts'
import { nodePostgresSql } from '../../../../src/stores/sql/adapters/node-postgres.node.ts'
import { rowsOf } from '../../../../src/stores/sql/query.ts'
import type { Sql } from '../../../../src/stores/sql/sql.ts'
import { adminApi } from '../../../support/admin-api.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'
import { type MailReceiver, startMailReceiver } from '../../../support/mail-receiver.node.ts'
import { browser } from '../../../support/people.ts'
import { preparedDatabase } from '../../../support/prepared-database.ts'
import { type Switchable, switchable } from '../../../system/worker/support/switchable.ts'

const postgresUrl = inject('postgresUrl')
const redisUrl = inject('redisUrl')
const PASSWORD = 'correct horse battery staple'

describe.skipIf(!postgresUrl || !redisUrl)('invitations, while something is away', () => {
  let database: Switchable
  let store: Switchable
  let mail: MailReceiver
  let gateway: FullGateway
  /** Past the line that is cut. */
  let direct: Sql
  let yaml: string
  const ask = adminApi(() => gateway)

  beforeAll(async () => {
    mail = await startMailReceiver()
    store = await switchable(redisUrl)
    const url = await preparedDatabase(postgresUrl)
    database = await switchable(url)
    direct = nodePostgresSql({ connectionString: url })
    yaml = `
general_settings:
  { database_url: '${database.url}', redis_url: '${store.url}', degraded_mode: fail_closed, email_provider: smtp,
    email_base_url: 'https://gateway.example', email_from: gateway@example.com, email_smtp_host: 127.0.0.1,
    email_smtp_port: ${mail.port}, trusted_proxies: [127.0.0.1] }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`
    gateway = await startFullGateway(yaml)
    await ask('POST', '/organizations', { organization_id: 'acme' })
  })
  afterAll(async () => {
    await Promise.all([database?.set('open'), store?.set('open')])
    await gateway?.close()
    await Promise.all([database?.close(), store?.close(), direct?.close(), mail?.close()])
  })

  const inspected = () => browser(gateway.url).ask('GET', `/auth/invitations/${newToken()}`)
  const back = async () => {
    await Promise.all([database.set('open'), store.set('open')])
    const deadline = Date.now() + 15_000
    // The master key needs no store, and what accepts an invitation does.
    while ((await ask('GET', '/invitations')).status !== 200 || (await inspected()).status !== 200) {
      if (Date.now() > deadline) throw new Error('the gateway does not come back')
      await wait(50)
    }
  }
  let invited = 0
  async function invite() {
    const email = `away${++invited}@example.com`
    expect((await ask('POST', '/invitations', { email, organization_id: 'acme' })).status).toBe(201)
    const link = await mail.linkTo(email)
    return { email, token: link.slice(link.indexOf('#') + 1) }
  }
  const accept = (token: string) =>
    browser(gateway.url).ask(
      'POST',
      '/auth/invitations/accept',
      { token, password: PASSWORD },
      {
        'x-forwarded-for': `10.1.0.${invited}`,
      },
    )
  const kept = async (email: string) =>
    (
      await rowsOf(
        direct,
        sql<{ state: string; accounts: number; users: number; members: number }>`
          SELECT state, (SELECT count(*)::int FROM gateway_account AS account WHERE account.email_key = ${email}) AS accounts,
            (SELECT count(*)::int FROM gateway_user WHERE user_email = ${email}) AS users,
            (SELECT count(*)::int FROM gateway_membership JOIN gateway_user USING (user_id)
              WHERE user_email = ${email}) AS members
          FROM gateway_invitation WHERE email_key = ${email}`,
      )
    )[0]
  const NOTHING = { state: 'pending', accounts: 0, users: 0, members: 0 }
  const EVERYTHING = { state: 'accepted', accounts: 1, users: 1, members: 1 }

  it.each([
    ['database', 'closed', 'database_unavailable'],
    ['store', 'closed', 'store_unavailable'],
  ] as const)('(the %s is %s) say so, change nothing, and can be accepted afterwards', async (what, how, code) => {
    const { email, token } = await invite()
    await (what === 'database' ? database : store).set(how)
    const answers = [
      await accept(token),
      await browser(gateway.url).ask('GET', `/auth/invitations/${token}`),
      await ask('POST', '/invitations', { email: 'never@example.com', organization_id: 'acme' }),
    ]
    // The master key needs no store.
    const asked = what === 'database' ? answers : answers.slice(0, 2)
    expect(asked.map(({ status, body }) => [status, body.error?.code])).toEqual(asked.map(() => [503, code]))
    await back()
    expect(await kept(email)).toEqual(NOTHING)
    expect((await accept(token)).status).toBe(200)
    expect(await kept(email)).toEqual(EVERYTHING)
  })

  it('are accepted as a whole or not at all, whenever the database goes away', { timeout: 120_000 }, async () => {
    const seen = new Set<string>()
    for (const pause of [0, 60, 120, 160, 200, 240, 280, 320, 400]) {
      const { email, token } = await invite()
      const accepting = accept(token)
      await wait(pause)
      await database.set('closed')
      const { status } = await accepting
      await back()
      const now = (await kept(email)) as typeof NOTHING
      expect([NOTHING, EVERYTHING]).toContainEqual(now)
      if (status === 200) expect(now).toEqual(EVERYTHING)
      if (now.state === 'pending') expect((await accept(token)).status).toBe(200)
      seen.add(now.state)
    }
    expect(seen.size).toBeGreaterThan(0)
  })

  it('reach the person after a restart, when the mail was away before', async () => {
    const email = 'later@example.com'
    await mail.close()
    const { body } = await ask('POST', '/invitations', { email, organization_id: 'acme' })
    await gateway.idle()
    const find = async () => (await ask('GET', `/invitations?search=${email}`)).body.data[0]
    expect(await find()).toMatchObject({
      mail: { state: 'queued', attempts: 1, last_error: expect.stringContaining('ECONNREFUSED') },
    })
    await gateway.close()
    const again = await startMailReceiver()
    gateway = await startFullGateway(yaml.replace(`email_smtp_port: ${mail.port}`, `email_smtp_port: ${again.port}`))
    mail = again
    await rowsOf(direct, sql`UPDATE gateway_email SET due_at = now() WHERE state = 'queued'`)
    // Any other e-mail takes along what is due.
    await ask('POST', '/invitations', { email: 'another@example.com' })
    const link = await again.linkTo(email)
    await gateway.idle()
    expect(await find()).toMatchObject({ invitation_id: body.invitation_id, mail: { state: 'sent', attempts: 2 } })
    expect((await accept(link.slice(link.indexOf('#') + 1))).status).toBe(200)
  })
})
