import type { CallFinished, RequestFinished, TelemetryEvent } from '../events.ts'
import type { Labels } from './metric.ts'

/** The model call of an event: a finished one, or one that was refused before it began. */
export function modelCallIn(event: TelemetryEvent): CallFinished | RequestFinished | undefined {
  if (event.type === 'call.finished') return event
  return event.type === 'request.finished' && event.modelCall ? event : undefined
}

/** The empty labels of a series that exists before the first call. */
export const NO_CALL: Labels = { model: '', provider: '', team: '', key_id: '' }

/** The labels of every count of calls. A call that was refused early has no model and no provider. */
export function callLabels(event: TelemetryEvent): Labels {
  const call = modelCallIn(event)
  if (!call) return NO_CALL
  const { model, provider } = call.type === 'call.finished' ? call : NO_CALL_NAMES
  return { model, provider, team: call.teamId, key_id: call.keyId }
}

const NO_CALL_NAMES = { model: '', provider: '' }

/** The labels of metrics about a provider, without the caller. */
export function providerLabels(event: TelemetryEvent): Labels {
  const { model, provider } = event.type === 'call.finished' ? event : NO_CALL_NAMES
  return { model, provider }
}

/** A key of a call: calls with the same key have the same labels in every metric. */
export function callSeries({ model, provider, teamId, keyId, status, errorType }: CallFinished): string {
  return `${model}\0${provider}\0${teamId}\0${keyId}\0${status}\0${errorType}`
}
