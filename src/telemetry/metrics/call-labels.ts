import type { CALL_LABELS } from '../../config/sections/callback-settings.ts'
import type { CallFinished, RequestFinished } from '../events.ts'
import type { Labels, Metric } from './metric.ts'

export type CallLabel = (typeof CALL_LABELS)[number]

/** A model call: a finished one, or one that was refused before it began. */
type ModelCall = CallFinished | RequestFinished

const VALUES: Readonly<Record<CallLabel, (call: ModelCall) => string>> = {
  // A call that was refused early has no model, no provider and no deployment.
  model: (call) => (call.type === 'call.finished' ? call.model : ''),
  provider: (call) => (call.type === 'call.finished' ? call.provider : ''),
  deployment: (call) => (call.type === 'call.finished' ? call.deployment : ''),
  endpoint: (call) => (call.type === 'call.finished' ? call.endpoint : call.route),
  team: (call) => call.teamId,
  organization: (call) => call.organizationId,
  user: (call) => call.userId,
  key_id: (call) => call.keyId,
}
const NAMES = Object.keys(VALUES) as CallLabel[]

/** The empty labels of a series that exists before the first call. */
export const NO_CALL: Labels = Object.fromEntries(NAMES.map((name) => [name, '']))

/** The labels of every count of calls, of which `withCallLabels` keeps those that are chosen. */
export function callLabels(call: ModelCall): Labels {
  return Object.fromEntries(NAMES.map((name) => [name, VALUES[name](call)]))
}

/** The labels of metrics about a provider, without the caller. */
export function providerLabels({ model, provider }: CallFinished): Labels {
  return { model, provider }
}

/** The metrics with the chosen ones of a call's labels. Series that differ in other labels alone become one. */
export function withCallLabels(metrics: readonly Metric[], chosen: readonly CallLabel[]): Metric[] {
  const left = NAMES.filter((name) => !chosen.includes(name))
  const kept = (labels: Labels) =>
    Object.fromEntries(Object.entries(labels).filter(([name]) => !left.includes(name as CallLabel)))
  return metrics.map((metric) =>
    metric.ofCalls
      ? {
          ...metric,
          ...(metric.initial ? { initial: metric.initial.map(kept) } : {}),
          labels: (event) => kept(metric.labels(event)),
        }
      : metric,
  )
}
