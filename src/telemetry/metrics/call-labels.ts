import type { TelemetryEvent } from '../events.ts'
import type { Labels } from './metric.ts'

/** The labels that every count of calls carries; no model and provider for a call that was refused before it had any. */
export function callLabels(event: TelemetryEvent): Labels {
  const { model, provider } = event.type === 'call.finished' ? event : { model: '', provider: '' }
  return { model, provider, team: event.teamId, key_id: event.keyId }
}
