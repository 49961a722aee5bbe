import type { CallFinished, RequestFinished, TelemetryEvent } from '../events.ts'
import type { Labels } from './metric.ts'

/** The model call that an event is about: one that was made, or one that was refused before it was. */
export function modelCallIn(event: TelemetryEvent): CallFinished | RequestFinished | undefined {
  if (event.type === 'call.finished') return event
  return event.type === 'request.finished' && event.modelCall ? event : undefined
}

/** Those of no call: what a count begins with. */
export const NO_CALL: Labels = { model: '', provider: '', team: '', key_id: '' }

/** The labels that every count of calls carries; no model and provider for a call that was refused before it had any. */
export function callLabels(event: CallFinished | RequestFinished): Labels {
  const { model, provider } = event.type === 'call.finished' ? event : { model: '', provider: '' }
  return { model, provider, team: event.teamId, key_id: event.keyId }
}
