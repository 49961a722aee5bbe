import { describe, expect, it } from 'vitest'
import { chat } from '../../../src/modes/chat.ts'
import type { Mode } from '../../../src/modes/mode.ts'
import { providers } from '../../../src/providers/index.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import type { Deployment } from '../../../src/routing/deployment.ts'
import { knownSignals } from '../../../src/routing/known-signals.ts'
import { firstInOrder, type Placed } from '../../../src/routing/order.ts'
import { strategies } from '../../../src/routing/strategies/index.ts'
import type { DeploymentSignals } from '../../../src/stores/kv/deployment-signals.ts'
import { seededRandom } from '../../support/random.ts'
import { registryOf } from '../../support/registry.ts'

const NOW = Date.UTC(2026, 5, 1)

interface Known {
  readonly info?: Record<string, unknown>
  readonly signals?: Partial<DeploymentSignals>
}

interface Candidate {
  readonly deployment: Deployment
  readonly signals: DeploymentSignals
}

/** Deployments as a configuration makes them, with what is said to be known of each. */
function candidates(named: Record<string, Known>): Candidate[] {
  const entries = Object.entries(named).map(([id, { info = {} }]) => ({
    model_name: 'group',
    deployment_id: id,
    gateway_params: { model: 'echo/echo' },
    model_info: info,
  }))
  const { resolve } = registryOf(loadConfig(JSON.stringify({ model_list: entries }), {}), providers)
  return (resolve('group')?.deployments ?? []).map((deployment) => ({
    deployment,
    signals: { ...knownSignals(Date.now).of(deployment.id), ...named[deployment.id]?.signals },
  }))
}

function ordered(
  strategy: string,
  list: readonly Candidate[],
  seed = 1,
  mode: Mode = chat as unknown as Mode,
): string[] {
  return placed(strategy, list, seededRandom(seed).next, mode).map(({ deployment }) => deployment.id)
}

function placed(name: string, list: readonly Candidate[], random: () => number, mode: Mode): Placed[] {
  const strategy = strategies.get(name)
  if (!strategy) throw new Error(`no strategy ${name}`)
  const signals = knownSignals(Date.now)
  signals.learn(list.map((candidate) => candidate.signals))
  const deployments = list.map(({ deployment }) => deployment)
  const context = { mode, signals, random, now: NOW, takesCalls: () => true }
  return firstInOrder(deployments, deployments.length, strategy, context)
}

const SEEDS = Array.from({ length: 2000 }, (_, seed) => seed)
const counted = (names: readonly (string | undefined)[]) => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name ?? ''] = (counts[name ?? ''] ?? 0) + 1
  return counts
}
const firstsOf = (strategy: string, list: readonly Candidate[]) =>
  counted(SEEDS.map((seed) => ordered(strategy, list, seed)[0]))

/** Three standard deviations either side of what a fair draw gives. */
function expectShare(count: number | undefined, share: number): void {
  const spread = 3 * Math.sqrt(SEEDS.length * share * (1 - share))
  expect(Math.abs((count ?? 0) - SEEDS.length * share)).toBeLessThan(spread)
}

describe.each([...strategies.keys()])('%s', (name) => {
  const list = candidates({ a: { info: { weight: 3 } }, b: {}, c: { info: { weight: 0 } }, d: {} })

  it('gives every candidate once, the same order for the same draw, and leaves its input as it was', () => {
    const before = [...list]
    for (const seed of SEEDS.slice(0, 50)) {
      const order = ordered(name, list, seed)
      expect([...order].sort()).toEqual(['a', 'b', 'c', 'd'])
      expect(ordered(name, list, seed)).toEqual(order)
    }
    expect(list).toEqual(before)
  })

  it('takes no candidates and one', () => {
    expect(ordered(name, [])).toEqual([])
    expect(ordered(name, list.slice(0, 1))).toEqual(['a'])
  })
})

describe('simple-shuffle', () => {
  it('picks at random from all and ignores weight', () => {
    const firsts = firstsOf(
      'simple-shuffle',
      candidates({ a: { info: { weight: 100 } }, b: { info: { weight: 0 } }, c: {} }),
    )
    for (const id of ['a', 'b', 'c']) expectShare(firsts[id], 1 / 3)
  })

  it('makes every order equally often', () => {
    const three = candidates({ a: {}, b: {}, c: {} })
    const orders = counted(SEEDS.map((seed) => ordered('simple-shuffle', three, seed).join('')))
    expect(Object.keys(orders)).toHaveLength(6)
    for (const count of Object.values(orders)) expectShare(count, 1 / 6)
  })
})

describe.each(['weighted', 'tag-based-routing'])('%s', (name) => {
  it('gives a higher weight more traffic, in proportion', () => {
    const firsts = firstsOf(name, candidates({ a: { info: { weight: 7 } }, b: { info: { weight: 2 } }, c: {} }))
    expectShare(firsts.a, 0.7)
    expectShare(firsts.b, 0.2)
    expectShare(firsts.c, 0.1)
  })

  it('draws the second place by the weights that are left', () => {
    const list = candidates({ a: { info: { weight: 98 } }, b: { info: { weight: 1 } }, c: { info: { weight: 1 } } })
    const seconds = SEEDS.map((seed) => ordered(name, list, seed)).filter(([first]) => first === 'a')
    const b = seconds.filter(([, second]) => second === 'b').length
    expect(b / seconds.length).toBeGreaterThan(0.45)
    expect(b / seconds.length).toBeLessThan(0.55)
  })

  it('puts weights of zero last, and has an order where all are zero', () => {
    const list = candidates({ b: { info: { weight: 0.001 } }, a: { info: { weight: 0 } }, c: { info: { weight: 0 } } })
    for (const seed of SEEDS) expect(ordered(name, list, seed)[0]).toBe('b')
    expect(placed(name, list, () => 0, chat as unknown as Mode)[0]?.deployment.id).toBe('b')
    const zeros = candidates({ a: { info: { weight: 0 } }, b: { info: { weight: 0 } } })
    expectShare(firstsOf(name, zeros).a, 0.5)
  })
})

describe('priority-based-routing', () => {
  it('tries priority 0 first, higher numbers after it, equals at random', () => {
    const list = candidates({
      third: { info: { priority: 7 } },
      a: { info: { priority: 0 } },
      second: { info: { priority: 1 } },
      b: {},
    })
    for (const seed of SEEDS.slice(0, 200))
      expect(ordered('priority-based-routing', list, seed).slice(2)).toEqual(['second', 'third'])
    expectShare(firstsOf('priority-based-routing', list).a, 0.5)
  })
})

describe('least-busy', () => {
  it('prefers the fewest requests in flight', () => {
    const list = candidates({
      a: { signals: { active: 9 } },
      b: { signals: { active: 0 } },
      c: { signals: { active: 2 } },
    })
    for (const seed of SEEDS.slice(0, 50)) expect(ordered('least-busy', list, seed)).toEqual(['b', 'c', 'a'])
  })
})

describe('latency-based-routing', () => {
  it('prefers the best recent latency, by the first token where that is known', () => {
    const list = candidates({
      slow: { signals: { samples: 5, sampledAt: NOW, latencyMs: 900, firstTokenMs: 400 } },
      quick: { signals: { samples: 5, sampledAt: NOW, latencyMs: 2000, firstTokenMs: 100 } },
      whole: { signals: { samples: 5, sampledAt: NOW, latencyMs: 300, firstTokenMs: 0 } },
    })
    for (const seed of SEEDS.slice(0, 50))
      expect(ordered('latency-based-routing', list, seed)).toEqual(['quick', 'whole', 'slow'])
  })

  it('keeps what was never sampled eligible: it comes first, so that it is sampled', () => {
    const quick = { samples: 1, sampledAt: NOW, latencyMs: 1, firstTokenMs: 1 }
    const list = candidates({ quick: { signals: quick }, unknown: {} })
    for (const seed of SEEDS.slice(0, 50))
      expect(ordered('latency-based-routing', list, seed)).toEqual(['unknown', 'quick'])
  })

  it('asks what was slow once again after five minutes, with one call at a time, and not what has failed meanwhile', () => {
    const quick = { samples: 9, sampledAt: NOW, latencyMs: 90, firstTokenMs: 90 }
    const slow = { samples: 9, latencyMs: 9000, firstTokenMs: 900 }
    const orderWith = (signals: Partial<DeploymentSignals>) =>
      ordered('latency-based-routing', candidates({ quick: { signals: quick }, slow: { signals } }))
    const longAgo = NOW - 300_001
    expect(orderWith({ ...slow, sampledAt: NOW - 300_000 })).toEqual(['quick', 'slow'])
    expect(orderWith({ ...slow, sampledAt: longAgo })).toEqual(['slow', 'quick'])
    expect(orderWith({ ...slow, sampledAt: longAgo, active: 1 })).toEqual(['quick', 'slow'])
    expect(orderWith({ ...slow, sampledAt: longAgo, lastErrorAt: NOW - 1000 })).toEqual(['quick', 'slow'])
  })
})

describe('cost-based-routing', () => {
  it('prefers the lowest unit cost; an unknown price comes last, one of zero first', () => {
    const list = candidates({
      dear: { info: { input_cost_per_token: 0.00001, output_cost_per_token: 0.00003 } },
      unknown: {},
      half: { info: { output_cost_per_token: 0.00002 } },
      free: { info: { input_cost_per_token: 0, output_cost_per_token: 0 } },
    })
    for (const seed of SEEDS.slice(0, 50)) {
      expect(ordered('cost-based-routing', list, seed)).toEqual(['free', 'half', 'dear', 'unknown'])
    }
  })

  it('shares calls among equals, those of unknown price too', () => {
    expectShare(firstsOf('cost-based-routing', candidates({ a: {}, b: {} })).a, 0.5)
  })
})

describe('usage-based-routing', () => {
  it('prefers the lowest utilization of the tightest limit', () => {
    const limits = { rpm_limit: 100, tpm_limit: 1000 }
    const list = candidates({
      tokens: { info: limits, signals: { used: { requests: 1, tokens: 600 } } },
      requests: { info: limits, signals: { used: { requests: 50, tokens: 0 } } },
      idle: { info: limits, signals: { used: { requests: 10, tokens: 100 } } },
      unlimited: { signals: { used: { requests: 5000, tokens: 90_000 } } },
      closed: { info: { rpm_limit: 0 } },
    })
    for (const seed of SEEDS.slice(0, 50)) {
      expect(ordered('usage-based-routing', list, seed)).toEqual(['unlimited', 'idle', 'requests', 'tokens', 'closed'])
    }
  })

  it('looks at the limit of the mode’s own unit', () => {
    const images = { ...chat, unit: 'images' } as unknown as Mode
    const list = candidates({
      busy: { info: { image_pm_limit: 10 }, signals: { used: { images: 9 } } },
      free: { info: { image_pm_limit: 10 }, signals: { used: { images: 1 } } },
    })
    for (const seed of SEEDS.slice(0, 50))
      expect(ordered('usage-based-routing', list, seed, images)).toEqual(['free', 'busy'])
    expectShare(firstsOf('usage-based-routing', list).busy, 0.5)
  })
})

describe('rate-limit-aware', () => {
  const at = (requests: number) => ({ info: { rpm_limit: 100 }, signals: { used: { requests } } })

  it('puts deployments above 90 % of a limit behind the rest, and picks among the rest at random', () => {
    const list = candidates({ above: at(91), exactly: at(90), idle: at(0) })
    for (const seed of SEEDS) expect(ordered('rate-limit-aware', list, seed)[2]).toBe('above')
    expectShare(firstsOf('rate-limit-aware', list).exactly, 0.5)
  })

  it('looks at every limit: the tightest decides', () => {
    const list = candidates({
      tokens: { info: { rpm_limit: 100, tpm_limit: 1000 }, signals: { used: { requests: 0, tokens: 950 } } },
      idle: at(50),
    })
    for (const seed of SEEDS.slice(0, 50)) expect(ordered('rate-limit-aware', list, seed)).toEqual(['idle', 'tokens'])
  })
})
