import { describe, expect, it } from 'vitest'
import { chat } from '../../src/modes/chat.ts'
import type { Mode } from '../../src/modes/mode.ts'
import { providers } from '../../src/providers/index.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import type { Deployment } from '../../src/routing/deployment.ts'
import { knownSignals } from '../../src/routing/known-signals.ts'
import { firstInOrder, inOrder, orderedAgain, type Placed } from '../../src/routing/order.ts'
import { strategies } from '../../src/routing/strategies/index.ts'
import { seededRandom } from '../support/random.ts'
import { registryOf } from '../support/registry.ts'

const MANY = 300
const random = seededRandom(11)
const entries = Array.from({ length: MANY }, (_, at) => ({
  model_name: 'group',
  deployment_id: `d${at}`,
  gateway_params: { model: 'echo/echo' },
  model_info: { weight: random.integer(0, 4), priority: random.integer(0, 5), rpm_limit: random.integer(5, 50) },
}))
const { resolve } = registryOf(loadConfig(JSON.stringify({ model_list: entries }), {}), providers)
const deployments = resolve('group')?.deployments as readonly Deployment[]
const signals = knownSignals(Date.now)
signals.learn(
  deployments.map(({ id }) => ({
    ...signals.of(id),
    active: random.integer(0, 9),
    used: { requests: random.integer(0, 50) },
    samples: 1,
    latencyMs: random.integer(1, 90),
  })),
)
const mode = chat as unknown as Mode
const idsOf = (placed: readonly Placed[]) => placed.map(({ deployment }) => deployment.id)

describe.each([...strategies.keys()])('of many deployments, by %s', (name) => {
  const strategy = strategies.get(name) ?? expect.fail()
  const drawn = (seed: number) => ({ mode, signals, random: seededRandom(seed).next, now: 0 })

  it('the first are those that are first of all, and stay so when they are ordered again', () => {
    for (let seed = 0; seed < 20; seed++) {
      const all = idsOf(inOrder(deployments, strategy, drawn(seed)))
      expect(new Set(all).size).toBe(MANY)
      const first = firstInOrder(deployments, 16, strategy, { ...drawn(seed), takesCalls: () => true })
      expect(idsOf(first)).toEqual(all.slice(0, 16))
      expect(idsOf(orderedAgain(first, strategy, drawn(seed)))).toEqual(idsOf(first))
    }
  })

  it('those that take no calls come behind all that do', () => {
    const well = new Set(deployments.filter((_, at) => at % 30 === 7).map(({ id }) => id))
    expect(well.size).toBe(10)
    const context = { ...drawn(3), takesCalls: ({ id }: Deployment) => well.has(id) }
    const all = idsOf(inOrder(deployments, strategy, drawn(3)))
    const expected = [...all.filter((id) => well.has(id)), ...all.filter((id) => !well.has(id))]
    expect(idsOf(firstInOrder(deployments, 16, strategy, context))).toEqual(expected.slice(0, 16))
  })
})
