import type { DeploymentSignals } from '../stores/kv/deployment-signals.ts'

/** What this isolate last heard of each deployment: the first guess of an order, corrected by what admission brings. */
export interface KnownSignals {
  of(deployment: string): DeploymentSignals
  learn(signals: readonly DeploymentSignals[]): void
  /** Forgets all but these. */
  keep(deployments: ReadonlySet<string>): void
}

/** The minute that was counted is over, and the calls that were in flight have ended. */
const FADE_MS = 60_000
const LOOK_EVERY_MS = 5000

interface Heard {
  signals: DeploymentSignals
  at: number
}

/** Of a large group each call hears of a few: what was heard of the others fades, so that one that was busy once does
 *  not look so for ever. */
export function knownSignals(now: () => number): KnownSignals {
  const known = new Map<string, Heard>()
  let lookedAt = 0

  function fade(before: number): void {
    for (const heard of known.values()) {
      if (heard.at >= before) continue
      heard.at = Number.POSITIVE_INFINITY
      heard.signals = { ...heard.signals, active: 0, used: {}, probing: false }
    }
  }

  return {
    of(deployment) {
      let heard = known.get(deployment)
      if (!heard) {
        heard = { signals: unknown(deployment), at: Number.POSITIVE_INFINITY }
        known.set(deployment, heard)
      }
      return heard.signals
    },
    learn(signals) {
      const at = now()
      for (const signal of signals) {
        const heard = known.get(signal.deployment)
        if (heard) {
          heard.signals = signal
          heard.at = at
        } else known.set(signal.deployment, { signals: signal, at })
      }
      if (at - lookedAt < LOOK_EVERY_MS) return
      lookedAt = at
      fade(at - FADE_MS)
    },
    keep: (deployments) => {
      for (const deployment of known.keys()) if (!deployments.has(deployment)) known.delete(deployment)
    },
  }
}

function unknown(deployment: string): DeploymentSignals {
  return {
    deployment,
    active: 0,
    used: {},
    failures: 0,
    cooledUntil: 0,
    probing: false,
    latencyMs: 0,
    firstTokenMs: 0,
    samples: 0,
    lastError: '',
    lastErrorAt: 0,
    lastSuccessAt: 0,
  }
}
