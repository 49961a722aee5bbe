import {
  askedAt,
  type Cached,
  type CacheLookup,
  clearedAt,
  type EndedLead,
  leadText,
  readLead,
} from '../answer-cache.ts'
import type { Lease } from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import type { State } from './state.ts'

/** Looks for the answers of a call, and for one that is asking for them. Changes nothing. */
export function lookUp(
  state: State,
  { answers, clearings, maxAgeSeconds, lead }: CacheLookup,
  callId: string,
  now: number,
): Cached {
  const cleared = clearedAt(clearings.map((key) => state.clearings.get(key)))
  const found = answers.map((key) => {
    const text = state.answers.get(key)
    const at = askedAt(text) ?? 0
    return at > cleared && at + milliseconds(maxAgeSeconds) > now ? text : undefined
  })
  if (!found.includes(undefined)) return { state: 'hit', answers: found }
  const held = readLead(state.leads.get(lead))
  if (!held || held.from <= cleared || held.ends <= now || held.callId === callId)
    return { state: 'lead', answers: found }
  return held.callId === '' ? { state: 'alone', answers: found } : { state: 'follow', answers: [] }
}

export function takeLead({ leads }: State, { lead, leadSeconds }: CacheLookup, callId: string, now: number): void {
  const ends = now + milliseconds(leadSeconds)
  leads.set(lead, leadText({ from: now, ends, callId }), ends)
}

export function renewLead(
  { leads }: State,
  { key, seconds }: NonNullable<Lease['lead']>,
  callId: string,
  now: number,
): void {
  const held = readLead(leads.get(key))
  if (held?.callId !== callId || held.ends <= now) return
  const ends = Math.max(held.ends, now + milliseconds(seconds))
  leads.set(key, leadText({ ...held, ends }), ends)
}

/** Ends a lead that is still the call's. */
export function endLead({ leads }: State, { key, unkeptSeconds }: EndedLead, callId: string, now: number): void {
  if (readLead(leads.get(key))?.callId !== callId) return
  const ends = now + milliseconds(unkeptSeconds)
  if (unkeptSeconds > 0) leads.set(key, leadText({ from: now, ends, callId: '' }), ends)
  else leads.delete(key)
}
