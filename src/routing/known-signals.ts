import type { DeploymentSignals } from '../stores/kv/deployment-signals.ts'

/** What this isolate last heard of each deployment: the first guess of an order, corrected by what admission brings. */
export interface KnownSignals {
  of(deployment: string): DeploymentSignals
  learn(signals: readonly DeploymentSignals[]): void
  /** Forgets all but these. */
  keep(deployments: ReadonlySet<string>): void
}

export function knownSignals(): KnownSignals {
  const known = new Map<string, DeploymentSignals>()
  return {
    of: (deployment) => known.get(deployment) ?? unknown(deployment),
    learn: (signals) => {
      for (const signal of signals) known.set(signal.deployment, signal)
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
