import { beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { configuration, deployment } from '../../support/configuration.ts'
import { badKey } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import { withGateway } from '../../support/with-gateway.ts'

const upstream = upstreamClient(inject('upstreamUrl'))
const MANY = 60

describe('a group of many deployments', () => {
  const gateway = withGateway()
  let ids: string[]
  let serial = 0

  beforeEach(async () => {
    serial += 1
    ids = Array.from({ length: MANY }, (_, at) => `large-${serial}-${String(at).padStart(2, '0')}`)
    await gateway.restart(
      configuration({
        router_settings: { routing_strategy: 'priority-based-routing' },
        model_list: ids.map((id, priority) => deployment(upstream.url, 'group', id, { priority })),
      }),
    )
  })

  async function ask() {
    const response = await gateway.chat({ model: 'group', messages: [{ role: 'user', content: 'Hello' }] })
    await response.text()
    await gateway.idle()
    return { status: response.status, served: response.headers.get('x-gateway-deployment') }
  }

  /** As another process would, which tells nobody here. */
  const cool = (which: readonly string[]) =>
    gateway.store.settle({
      callId: `cooled-elsewhere-${serial}-${which[0]}`,
      slots: [],
      budgets: [],
      outcomes: which.map((id) => ({
        attemptId: `elsewhere-${id}`,
        deployment: id,
        result: 'failed',
        used: {},
        cooldown: { allowedFails: 0, seconds: 600 },
      })),
      counters: {},
      entries: [],
    })

  it('asks the store about a few of them, in the order of its strategy', async () => {
    const admit = vi.spyOn(gateway.store, 'admit')
    expect(await ask()).toEqual({ status: 200, served: ids[0] })
    const asked = admit.mock.calls.map(([{ candidates }]) => candidates.map((one) => one.deployment))
    expect(asked).toEqual([ids.slice(0, 16)])
  })

  it('finds the only one that is free, and from then on knows of the others', async () => {
    await cool(ids.filter((_, at) => at !== 47))
    const startAttempt = vi.spyOn(gateway.store, 'startAttempt')
    expect(await ask()).toEqual({ status: 200, served: ids[47] })
    expect(startAttempt).toHaveBeenCalledTimes(1)
    const signals = vi.spyOn(gateway.store, 'signals')
    expect(await ask()).toEqual({ status: 200, served: ids[47] })
    expect(signals).not.toHaveBeenCalled()
  })

  it('tries one of them before its time where nobody is free', async () => {
    await cool(ids)
    const { status, served } = await ask()
    expect(status).toBe(200)
    expect(await ask()).toEqual({ status: 200, served })
  })

  it('goes on behind the first ones when all of those fail', async () => {
    for (const id of ids.slice(0, 40)) await upstream.script(id, [badKey()])
    expect(await ask()).toEqual({ status: 200, served: ids[40] })
  })
})
