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
export function callLabels(event: TelemetryEvent): Labels {
  const call = modelCallIn(event)
  if (!call) return NO_CALL
  const { model, provider } = call.type === 'call.finished' ? call : NO_CALL_NAMES
  return { model, provider, team: call.teamId, key_id: call.keyId }
}

const NO_CALL_NAMES = { model: '', provider: '' }

/** The labels of what is told of a provider, whoever called. */
export function providerLabels(event: TelemetryEvent): Labels {
  const { model, provider } = event.type === 'call.finished' ? event : NO_CALL_NAMES
  return { model, provider }
}

/** Calls of one name have the same labels in every metric. */
export function callSeries({ model, provider, teamId, keyId, status, errorType }: CallFinished): string {
  return `${model}\0${provider}\0${teamId}\0${keyId}\0${status}\0${errorType}`
}
