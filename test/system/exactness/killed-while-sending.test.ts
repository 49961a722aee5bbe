import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { type Place, place } from '../../runtimes/node/gateway-process.ts'
import { chatInit } from '../../support/gateway.ts'
import { startMailReceiver } from '../../support/mail-receiver.node.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const EMAIL = 'kill@example.com'

describe.skipIf(!postgresUrl)('an e-mail whose process is killed while it sends', () => {
  let home: Place
  let database: Sql
  let url: string

  beforeEach(async () => {
    home = await place()
    url = await preparedDatabase(postgresUrl)
    database = nodePostgresSql({ connectionString: url })
  })
  afterEach(async () => {
    await home?.clear()
    await database?.close()
  })

  const yaml = (port: number) => `
general_settings:
  { database_url: '${url}', email_provider: smtp, email_base_url: 'https://gateway.example',
    email_from: gateway@example.com, email_smtp_host: 127.0.0.1, email_smtp_port: ${port} }
model_list: []
`
  const rows = () =>
    rowsOf(database, sql<{ state: string; attempts: number }>`SELECT state, attempts FROM gateway_email`)

  it('is sent by the next one after its lease, and only then', { timeout: 90_000 }, async () => {
    let begun = 0
    // It takes the e-mail and never says so.
    const stuck = await startMailReceiver({
      onData(stream) {
        begun += 1
        stream.resume()
      },
    })
    const first = await home.start({ yaml: yaml(stuck.port) })
    await first.greeted()
    expect((await first.fetch('/ui/api/invitations', chatInit({ email: EMAIL }))).status).toBe(201)
    await expect.poll(() => begun, { timeout: 10_000 }).toBe(1)
    first.kill('SIGKILL')
    await first.ended
    expect(await rows()).toEqual([{ state: 'queued', attempts: 1 }])

    const receiver = await startMailReceiver()
    const second = await home.start({ yaml: yaml(receiver.port) })
    await second.greeted()
    const trigger = () => second.fetch('/ui/api/invitations', chatInit({ email: 'other@example.com' }))
    await trigger()
    await receiver.linkTo('other@example.com')
    expect(receiver.received.flatMap(({ to }) => to)).toEqual(['other@example.com'])
    await rowsOf(database, sql`UPDATE gateway_email SET due_at = now() WHERE state = 'queued'`)
    await trigger()
    await receiver.linkTo(EMAIL)
    await receiver.linkTo('other@example.com', 1)
    await second.untilLogged('email.sent', 3)
    expect(receiver.received.filter(({ to }) => to.includes(EMAIL))).toHaveLength(1)
    expect((await rows()).filter(({ attempts }) => attempts === 2)).toEqual([{ state: 'sent', attempts: 2 }])
    await Promise.all([stuck.close(), receiver.close()])
  })
})
