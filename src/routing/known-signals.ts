import type { DeploymentSignals } from '../stores/kv/deployment-signals.ts'

/** The last known signals of each deployment in this process. A first order is based on them; admission corrects it. */
export interface KnownSignals {
  of(deployment: string): DeploymentSignals
  learn(signals: readonly DeploymentSignals[]): void
  /** Drops the signals of all other deployments. */
  keep(deployments: ReadonlySet<string>): void
}

/** The age at which signals lose their load: their minute is over, and most of their calls have ended. */
const LOAD_MS = 60_000
const CHECK_EVERY_MS = 5000

interface Entry {
  signals: DeploymentSignals
  at: number
}

/** A call gets the signals of only some deployments of a large group. Old signals of the others lose their load, so
 *  that a deployment that was busy once does not stay last. */
export function knownSignals(now: () => number): KnownSignals {
  const known = new Map<string, Entry>()
  let checkedAt = 0

  function dropLoad(before: number): void {
    for (const entry of known.values()) {
      if (entry.at >= before) continue
      entry.at = Number.POSITIVE_INFINITY
      entry.signals = { ...entry.signals, active: 0, used: {}, probing: false }
    }
  }

  return {
    of(deployment) {
      let entry = known.get(deployment)
      if (!entry) {
        entry = { signals: unknown(deployment), at: Number.POSITIVE_INFINITY }
        known.set(deployment, entry)
      }
      return entry.signals
    },
    learn(signals) {
      const at = now()
      for (const signal of signals) {
        const entry = known.get(signal.deployment)
        if (entry) {
          entry.signals = signal
          entry.at = at
        } else known.set(signal.deployment, { signals: signal, at })
      }
      if (at - checkedAt < CHECK_EVERY_MS) return
      checkedAt = at
      dropLoad(at - LOAD_MS)
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
    sampledAt: 0,
    lastError: '',
    lastErrorAt: 0,
    lastSuccessAt: 0,
  }
}
