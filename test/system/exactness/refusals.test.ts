import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { nodePostgresSql } from '../../../src/stores/sql/adapters/node-postgres.node.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { type Place, place } from '../../runtimes/node/gateway-process.ts'
import { chatInit } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('the counts of refused calls of a process', () => {
  let home: Place
  let database: Sql
  let yaml: string

  beforeEach(async () => {
    home = await place()
    const url = await preparedDatabase(postgresUrl)
    database = nodePostgresSql({ connectionString: url })
    yaml = `
general_settings: { database_url: '${url}' }
model_list: []
`
  })
  afterEach(async () => {
    await home?.clear()
    await database?.close()
  })

  type Running = Awaited<ReturnType<Place['start']>>
  const refuse = async ({ fetch }: Running, calls: number) => {
    const init = chatInit({ model: 'nobody', messages: [{ role: 'user', content: 'Hi' }] })
    const answers = await Promise.all(Array.from({ length: calls }, () => fetch('/v1/chat/completions', init)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
  }
  const counted = async () => {
    const [row] = await rowsOf(
      database,
      sql<{ calls: number }>`SELECT coalesce(sum(calls), 0)::integer AS calls FROM gateway_refusal`,
    )
    return row?.calls
  }

  it('lose a second at most when it is killed, and nothing when it is stopped', { timeout: 90_000 }, async () => {
    const killed = await home.start({ yaml })
    await killed.greeted()
    await refuse(killed, 40)
    await expect.poll(counted, { timeout: 10_000 }).toBe(40)
    await refuse(killed, 5)
    killed.kill('SIGKILL')
    await killed.ended
    const left = (await counted()) as number
    expect(left).toBeGreaterThanOrEqual(40)
    expect(left).toBeLessThanOrEqual(45)

    const stopped = await home.start({ yaml })
    await stopped.greeted()
    await refuse(stopped, 7)
    stopped.kill('SIGTERM')
    await stopped.ended
    expect(await counted()).toBe(left + 7)
  })
})
