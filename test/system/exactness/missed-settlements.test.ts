import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SHORT_MS } from '../../../src/stores/kv/keys.ts'
import type { GatewayProcess } from '../../runtimes/node/gateway-process.ts'
import { deployment } from '../../support/configuration.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { answer } from '../../support/upstream/index.ts'
import { as, type Pair, pairExists, startPair, statusOf } from './pair.ts'

/** A call of ten tokens costs a cent. */
const CENT = 10_000_000

describe.skipIf(!pairExists())('settlements that the shared store missed', () => {
  let pair: Pair
  let upstream: Upstream

  beforeAll(async () => {
    upstream = await startUpstream()
    upstream.script('cheap-1', [answer({ usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 } })])
    pair = await startPair({
      model_list: [
        deployment(upstream.url, 'cheap', 'cheap-1', { input_cost_per_token: 0, output_cost_per_token: 0.001 }),
      ],
    })
  })
  afterAll(async () => {
    await pair?.close()
    await upstream?.close()
  })

  const ask = (gateway: GatewayProcess, key: string) =>
    statusOf(gateway.chat({ model: 'cheap', max_tokens: 10 }, { headers: as(key) }))
  async function inLedger(subject: string): Promise<number> {
    const asked = 'SELECT sum(spent_nano)::text AS spent FROM gateway_budget WHERE subject = $1'
    const { rows } = await pair.sql.query(asked, [subject])
    return Number(rows[0].spent ?? 0) / CENT
  }
  async function inStore(subject: string): Promise<number | undefined> {
    const [spent] = (await pair.raw.command('HMGET', `gateway:budget:${subject}`, 'spent')) as [string | null]
    return spent === null ? undefined : Number(atob(spent)) / CENT
  }
  const untilInLedger = (subject: string, cents: number) =>
    expect.poll(() => inLedger(subject), { timeout: 15_000 }).toBe(cents)

  it('are in budgets soon after the next calls, though the process that had them has ended', async () => {
    const { key, ids } = await pair.family({ key: { max_budget: 1 } })
    const subject = `key:${ids.key}`
    const [stays] = pair.gateways
    const ends = await pair.another()
    expect(await ask(stays, key)).toBe(200)
    expect(await ask(ends, key)).toBe(200)
    await untilInLedger(subject, 2)
    expect(await inStore(subject)).toBe(2)

    process.kill(pair.redis.pid, 'SIGSTOP')
    try {
      for (let at = 0; at < 6; at++) expect(await ask(ends, key)).toBe(200)
      ends.kill('SIGTERM')
      expect(await ends.ended).toMatchObject({ code: 0 })
    } finally {
      process.kill(pair.redis.pid, 'SIGCONT')
    }
    await untilInLedger(subject, 8)
    expect(await ask(stays, key)).toBe(200)
    await untilInLedger(subject, 9)
    await wait(SHORT_MS)
    expect(await ask(stays, key)).toBe(200)
    await expect.poll(() => inStore(subject)).toBe(10)
  })

  it('are counted once by a store that has lost everything and reads budgets from the ledger', async () => {
    const { key, ids } = await pair.family({ key: { max_budget: 1 } })
    const subject = `key:${ids.key}`
    const [one, other] = pair.gateways
    for (const gateway of pair.gateways) expect(await ask(gateway, key)).toBe(200)
    await untilInLedger(subject, 2)

    process.kill(pair.redis.pid, 'SIGSTOP')
    try {
      for (let at = 0; at < 6; at++) expect(await ask(one, key)).toBe(200)
      await untilInLedger(subject, 8)
    } finally {
      process.kill(pair.redis.pid, 'SIGCONT')
    }
    // Before the first has told what was missed, or after: what it tells is in the ledger.
    await pair.raw.command('FLUSHALL')
    await expect.poll(() => ask(other, key)).toBe(200)
    await expect.poll(() => ask(one, key), { timeout: 10_000 }).toBe(200)
    await expect.poll(async () => (await one.fetch('/health/readiness')).status, { timeout: 10_000 }).toBe(200)
    await untilInLedger(subject, 10)
    await wait(1000)
    expect(await inStore(subject)).toBe(10)
  })
})
