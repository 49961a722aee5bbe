import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { jsonLog } from '../../src/lib/log.ts'
import { sealUnder } from '../../src/lib/sealing/seal.ts'
import { secret } from '../../src/lib/secret.ts'
import { type MailMessage, MailRefused } from '../../src/mail/mail-sender.ts'
import { type Outbox, outbox } from '../../src/mail/outbox.ts'
import { refusalWords } from '../../src/mail/refusal-words.ts'
import { nodePostgresSql } from '../../src/stores/sql/adapters/node-postgres.node.ts'
import { emailRecords } from '../../src/stores/sql/people/email-records.ts'
import { batchOf, rowsOf } from '../../src/stores/sql/query.ts'
import { applySchema } from '../../src/stores/sql/schema/apply-schema.ts'
import { type Sql, SqlError } from '../../src/stores/sql/sql.ts'
import { preparedEmbeddedSql } from '../support/embedded-database.node.ts'
import { preparedDatabase } from '../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')
const schema = await readFile(new URL('../../schema.sql', import.meta.url), 'utf8')

const LINK = 'https://gateway.example/console/invite#canary-token'
const message = { subject: 'S', text: `T ${LINK}`, html: `<p>${LINK}</p>`, link: LINK }

describe.each([
  ['PostgreSQL', true],
  ['the embedded database', false],
])('the outbox, in %s', (_, onServer) => {
  if (onServer && !postgresUrl) return
  let database: Sql
  let sent: MailMessage[] = []
  let sending: (message: MailMessage) => Promise<string>

  beforeAll(async () => {
    database = onServer
      ? nodePostgresSql({ connectionString: await preparedDatabase(postgresUrl) })
      : await preparedEmbeddedSql()
    await applySchema(database, schema)
  })
  afterAll(() => database?.close())
  beforeEach(async () => {
    sent = []
    sending = async (one) => {
      sent.push(one)
      return 'taken'
    }
    await rowsOf(database, sql`DELETE FROM gateway_email`)
  })

  function made(through: Sql = database, saltKey = 'salt-of-the-outbox-test'): Outbox {
    return outbox({
      sender: { send: (one) => sending(one) },
      records: emailRecords(through),
      seal: sealUnder(secret(saltKey)),
      log: jsonLog('silent', () => {}),
      now: Date.now,
    })
  }

  async function put(recipient = 'ann@example.com', more: object = {}): Promise<void> {
    const email = { kind: 'invitation' as const, recipient, message, ...more }
    await batchOf(database, [await made().compose(email)])
  }

  const rows = () =>
    rowsOf(
      database,
      sql<Record<string, unknown>>`
        SELECT recipient, state, attempts, last_error, sealed IS NULL AS forgotten, sent_at IS NOT NULL AS told,
          extract(epoch FROM due_at - now())::float8 AS due
        FROM gateway_email ORDER BY email_id`,
    )
  const becomeDue = () => rowsOf(database, sql`UPDATE gateway_email SET due_at = now() - interval '1 second'`)

  it('sends what was put into it, once, and forgets what it said', async () => {
    await put()
    const kept = JSON.stringify(await rowsOf(database, sql`SELECT * FROM gateway_email`))
    expect(kept).not.toContain('canary-token')
    await made().sendDue()
    await made().sendDue()
    expect(sent).toMatchObject([{ recipient: 'ann@example.com', ...message }])
    expect(await rows()).toMatchObject([{ state: 'sent', attempts: 1, forgotten: true, told: true, last_error: null }])
  })

  it('writes a domain beyond ASCII as e-mail does', async () => {
    await put('ann@bücher.example')
    await made().sendDue()
    expect(sent[0]?.recipient).toBe('ann@xn--bcher-kva.example')
  })

  it('is written with the change that it tells of, or not at all', async () => {
    const email = { kind: 'invitation' as const, recipient: 'ann@example.com', message }
    const bad = sql`INSERT INTO gateway_team (team_id, organization_id) VALUES ('t', 'nowhere')`
    await expect(batchOf(database, [await made().compose(email), bad])).rejects.toThrow(SqlError)
    await put('bob@example.com', { onlyIf: sql<boolean>`EXISTS (SELECT FROM gateway_team)` })
    expect(await rows()).toEqual([])
  })

  it('sends each of many once, from many processes at once', async () => {
    for (let index = 0; index < 23; index++) await put(`p${index}@example.com`)
    await Promise.all(Array.from({ length: 8 }, () => made().sendDue()))
    expect(sent.map(({ recipient }) => recipient).sort()).toEqual(
      Array.from({ length: 23 }, (_, index) => `p${index}@example.com`).sort(),
    )
    expect((await rows()).every(({ state, attempts }) => state === 'sent' && attempts === 1)).toBe(true)
  })

  it('tries again five times, each time after twice as long, and then gives up', async () => {
    await put()
    sending = async () => Promise.reject(new MailRefused('451 later'))
    for (const seconds of [60, 120, 240, 480, 960]) {
      await made().sendDue()
      const [row] = await rows()
      expect(row).toMatchObject({ state: 'queued', last_error: '451 later', forgotten: false })
      expect(row?.due).toBeGreaterThan(seconds - 20)
      expect(row?.due).toBeLessThanOrEqual(seconds)
      await becomeDue()
    }
    await made().sendDue()
    expect(await rows()).toMatchObject([{ state: 'failed', attempts: 6, last_error: '451 later', forgotten: true }])
  })

  it('waits for as long as the way of sending asks, an hour at most', async () => {
    for (const [asked, waited] of [
      [200, 200],
      [86_400, 3600],
    ] as const) {
      await rowsOf(database, sql`DELETE FROM gateway_email`)
      await put()
      sending = async () => Promise.reject(new MailRefused('429', { retryAfterSeconds: asked }))
      await made().sendDue()
      expect((await rows())[0]?.due).toBeGreaterThan(waited - 20)
      expect((await rows())[0]?.due).toBeLessThanOrEqual(waited)
    }
  })

  it('gives up at once what no retry mends', async () => {
    await put()
    sending = async () => Promise.reject(new MailRefused('550 no such user', { isFinal: true }))
    await made().sendDue()
    expect(await rows()).toMatchObject([
      { state: 'failed', attempts: 1, last_error: '550 no such user', forgotten: true },
    ])
  })

  it('keeps the words of a service that are no text', async () => {
    await put()
    sending = async (one) => {
      throw new MailRefused(refusalWords('half a character: \ud83d', one, {}), { isFinal: true })
    }
    await made().sendDue()
    expect(await rows()).toMatchObject([{ state: 'failed', last_error: 'half a character: \ufffd' }])
  })

  it('keeps what an unexpected error says to itself', async () => {
    await put()
    sending = async () => Promise.reject(new Error(`while sending ${LINK}`))
    await made().sendDue()
    expect((await rows())[0]?.last_error).toBe('it could not be sent')
  })

  it('that was sealed under another salt key says so', async () => {
    await put()
    await made(database, 'another-salt-key').sendDue()
    expect(await rows()).toMatchObject([{ state: 'failed', last_error: 'it was sealed under another salt key' }])
    expect(sent).toEqual([])
  })

  it('sends again what a process took that is no more, after its lease and not before', async () => {
    await put()
    const taken = await emailRecords(database).claim(5, 60)
    expect(taken).toHaveLength(1)
    await made().sendDue()
    expect(sent).toEqual([])
    await becomeDue()
    await made().sendDue()
    expect(sent).toHaveLength(1)
    expect(await rows()).toMatchObject([{ state: 'sent', attempts: 2 }])
  })

  it('does not listen to a process whose lease has ended', async () => {
    await put()
    const records = emailRecords(database)
    const [late] = await records.claim(1, 60)
    await becomeDue()
    const [later] = await records.claim(1, 60)
    if (!late || !later) throw new Error('nothing was claimed')
    await records.failed(late, 'from the past', undefined)
    await records.sent(late)
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 2, last_error: null }])
    await records.sent(later)
    expect(await rows()).toMatchObject([{ state: 'sent' }])
  })

  it('loses nothing while the database is away', async () => {
    await put()
    const away: Sql = { ...database, query: async () => Promise.reject(new SqlError('connection refused')) }
    await made(away).sendDue()
    expect(sent).toEqual([])
    // It goes away between the sending and the word of it: the e-mail is sent again, under the same id.
    let asked = 0
    const leaving: Sql = {
      ...database,
      query: (statement) => (asked++ === 0 ? database.query(statement) : away.query(statement)),
    }
    await made(leaving).sendDue()
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 1 }])
    await becomeDue()
    await made().sendDue()
    expect(sent.map(({ id }) => id)).toEqual([sent[0]?.id, sent[0]?.id])
    expect(await rows()).toMatchObject([{ state: 'sent' }])
  })

  it('waits for every e-mail that it is sending, also where the word of another is lost', async () => {
    await put('lost@x.example')
    await put('slow@x.example')
    let letGo = () => {}
    const slow = new Promise<void>((resolve) => {
      letGo = resolve
    })
    sending = async ({ recipient }) => {
      if (recipient !== 'lost@x.example') await slow
      return 'taken'
    }
    let lost = () => {}
    const isLost = new Promise<void>((resolve) => {
      lost = resolve
    })
    const leaving: Sql = {
      ...database,
      async query(statement) {
        if (!statement.parameters.includes('sent')) return database.query(statement)
        lost()
        throw new SqlError('connection refused')
      },
    }
    let ended = false
    const work = made(leaving)
      .sendDue()
      .then(() => {
        ended = true
      })
    await isLost
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(ended).toBe(false)
    letGo()
    await work
  })

  it('forgets what is old, and gives up what nobody could send in a day', async () => {
    for (const recipient of ['a@x.example', 'b@x.example', 'c@x.example']) await put(recipient)
    await rowsOf(
      database,
      sql`UPDATE gateway_email SET created_at = CASE recipient WHEN 'a@x.example' THEN now() - interval '31 days'
        WHEN 'b@x.example' THEN now() - interval '25 hours' ELSE now() END`,
    )
    await made().sweep()
    expect(await rows()).toMatchObject([
      { recipient: 'b@x.example', state: 'failed', forgotten: true },
      { recipient: 'c@x.example', state: 'queued', forgotten: false },
    ])
  })
})
