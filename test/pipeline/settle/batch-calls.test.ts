import { describe, expect, it } from 'vitest'
import { newAbort } from '../../../src/lib/abort.ts'
import { GatewayError } from '../../../src/lib/errors.ts'
import type { BatchMark } from '../../../src/pipeline/batch-mark.ts'
import type { DeploymentSignals } from '../../../src/stores/kv/deployment-signals.ts'
import type { CallFinished } from '../../../src/telemetry/events.ts'
import { budgetedCalls, CHAT, type Deed, placed } from '../../support/budgeted-calls.ts'

const PRICES = { input_cost_per_token: 0, output_cost_per_token: 0.0001 }
const NOT_RETRIED = { router_settings: { num_retries: 0, cooldown_time: 0 } }

function scene(settings: object = NOT_RETRIED) {
  const calls = budgetedCalls({ model_list: [placed('m', 'd', PRICES)], ...settings })
  const caller = calls.caller({ key: { max_budget: 1 } })
  const told: CallFinished[] = []
  const mark = (changes: Partial<BatchMark> = {}): BatchMark => ({
    batchId: 'batch_1',
    callId: 'call_of_item',
    repeats: () => false,
    finished: (event) => void told.push(event),
    ...changes,
  })
  const ask = async (batch: BatchMark | undefined, deed: Deed, signal = newAbort<GatewayError>()) => {
    const answer = await calls.ask(caller, {}, deed, CHAT, { signal, ...(batch && { batch }) })
    await calls.idle()
    return answer
  }
  return { ...calls, caller, told, mark, ask }
}

describe('a call of a batch', () => {
  it('has the id that its item gave it, and tells the batch of its end', async () => {
    const { ask, mark, told, finished } = scene()
    expect(await ask(mark(), { output: 10 })).toMatchObject({ status: 200 })
    expect(told).toEqual(finished)
    expect(told).toMatchObject([{ callId: 'call_of_item', batchId: 'batch_1', repeats: false, costNano: 1_000_000 }])
  })

  it('that fails at no cost is repeated if its batch says so', async () => {
    const { ask, mark, told } = scene()
    const asked: string[] = []
    const repeats = ({ failure }: GatewayError) => asked.push(failure) > 0
    expect(await ask(mark({ repeats }), { status: 500 })).toMatchObject({ status: 502 })
    await ask(mark({ repeats: () => false }), { status: 500 })
    expect(asked).toEqual(['upstream_failed'])
    expect(told.map((event) => event.repeats)).toEqual([true, false])
  })

  it('that the gateway gives up is charged an estimate only if it is not repeated', async () => {
    const { ask, mark, told } = scene()
    for (const again of [true, false]) {
      const signal = newAbort<GatewayError>()
      setTimeout(() => signal.abort(new GatewayError('shutting_down', 'The gateway stops.')), 20)
      const batch = mark({ repeats: () => again, callId: `call_${again}` })
      expect(await ask(batch, { ms: 60_000 }, signal)).toMatchObject({ status: 503 })
    }
    const [first, second] = told
    expect([first?.repeats, first?.usage, first?.costNano]).toEqual([true, undefined, 0])
    expect(second?.repeats).toBe(false)
    expect(second?.usage).toMatchObject({ estimated: true })
  })

  it('is reported and settled whatever its batch throws', async () => {
    const { ask, mark, finished } = scene()
    const fails = () => {
      throw new TypeError('something of the batch')
    }
    for (const callId of ['call_1', 'call_2']) {
      expect(await ask(mark({ callId, repeats: fails, finished: fails }), { status: 500 })).toMatchObject({
        status: 502,
      })
    }
    // It costs the whole budget, of which nothing may still be held.
    expect(await ask(undefined, { output: 10_000 })).toMatchObject({ status: 200 })
    expect(finished.map(({ repeats, ending }) => [repeats, ending])).toEqual([
      [false, 'failed'],
      [false, 'failed'],
      [false, 'answered'],
    ])
  })
})

describe('a call of a batch that runs once more under its id', () => {
  const ends = { repeats: () => false, callId: 'call_of_item' }

  it('after its end is paid once, and leaves nothing held', async () => {
    const { ask, mark, services } = scene()
    for (let run = 0; run < 3; run++)
      expect(await ask(mark(ends), { input: 1, output: 5000 })).toMatchObject({ status: 200 })
    expect((await services.store.signals(['d']))[0]).toMatchObject({ active: 0, used: { requests: 3, tokens: 5001 } })
    // It has cost half of the budget.
    expect(await ask(undefined, { output: 5000 })).toMatchObject({ status: 200 })
    expect(await ask(undefined, { output: 1 })).toMatchObject({ status: 429, param: 'key_budget' })
  })

  it('after a try that was to be repeated is paid', async () => {
    const { ask, mark } = scene()
    const again = mark({ repeats: () => true, callId: 'call_of_item' })
    for (let run = 0; run < 2; run++) expect(await ask(again, { status: 500 })).toMatchObject({ status: 502 })
    expect(await ask(mark(ends), { output: 10_000 })).toMatchObject({ status: 200 })
    expect(await ask(undefined, { output: 1 })).toMatchObject({ status: 429, param: 'key_budget' })
  })
})

describe('a deployment that fails calls of a batch', () => {
  const settings = { router_settings: { num_retries: 0, cooldown_time: 60, allowed_fails: 0 } }

  it('is not cooled by the rate limit of its provider', async () => {
    const { ask, mark, services } = scene(settings)
    for (const callId of ['call_1', 'call_2', 'call_3']) {
      expect(await ask(mark({ callId, repeats: () => true }), { status: 429 })).toMatchObject({ status: 429 })
    }
    expect((await services.store.signals(['d']))[0]).toMatchObject({ active: 0, failures: 0, cooledUntil: 0 })
    expect(await ask(undefined, { output: 1 })).toMatchObject({ status: 200 })
    await ask(undefined, { status: 429 })
    const [{ failures, cooledUntil }] = (await services.store.signals(['d'])) as [DeploymentSignals]
    expect(failures).toBe(1)
    expect(cooledUntil).toBeGreaterThan(Date.now())
  })

  it.each([500, 502, 504])('is cooled by status %i', async (status) => {
    const { ask, mark, services } = scene(settings)
    await ask(mark({ repeats: () => true }), { status })
    const [{ failures, cooledUntil }] = (await services.store.signals(['d'])) as [DeploymentSignals]
    expect(failures).toBe(1)
    expect(cooledUntil).toBeGreaterThan(Date.now())
  })
})

it('a call that no batch makes has no batch id', async () => {
  const { ask, finished } = scene()
  await ask(undefined, { output: 1 })
  expect(finished).toMatchObject([{ batchId: '', repeats: false, callId: expect.stringMatching(/^call_/) }])
})
