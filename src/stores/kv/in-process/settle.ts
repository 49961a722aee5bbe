import { addTo } from '../counted-series.ts'
import type { DeploymentOutcome } from '../deployment-signals.ts'
import { LIFETIME_MS } from '../keys.ts'
import type { Cooled, Settlement } from '../shared-store.ts'
import { isYetToBegin } from '../windows.ts'
import { finish, onlyReleased, unknownDeployment } from './deployment-state.ts'
import { endLead } from './leads.ts'
import { deploymentExpiresAt, type State } from './state.ts'
import { putMetered } from './values.ts'

/** Leaves everything that a call learned. Returns the deployments that it cooled. `scripts/settle.ts` implements it in
 *  Lua. */
export function settle(state: State, outcome: Settlement, now: number): readonly Cooled[] | undefined {
  const { callId, lateMs = 0 } = outcome
  const repeated = !state.settled.add(outcome.id ?? callId, now)
  for (const subject of outcome.slots) state.slots.get(subject)?.remove(callId)
  for (const spent of outcome.budgets) settleBudget(state, callId, spent, repeated ? undefined : lateMs, now)
  let cooled: Cooled[] | undefined
  for (const told of outcome.outcomes) {
    const one = settleDeployment(state, repeated ? onlyReleased(told) : told, now)
    if (one) {
      cooled ??= []
      cooled.push(one)
    }
  }
  if (outcome.lead) endLead(state, outcome.lead, callId, now)
  if (repeated) return undefined
  for (const name in outcome.counters) addTo(state.counters, name, outcome.counters[name] as number)
  for (const entry of outcome.entries) putEntry(state, entry, now)
  if (outcome.values) for (const value of outcome.values) putMetered(state, value, now)
  return cooled
}

/** Ends what the call holds of a budget and adds what it spent. `lateMs`: how late the settlement comes; undefined for a
 *  repeated one, which adds nothing. */
function settleBudget(
  state: State,
  callId: string,
  { subject, period, since, holdNano, spentNano }: Settlement['budgets'][number],
  lateMs: number | undefined,
  now: number,
): void {
  const entry = state.budgets.entry(subject)
  if (!entry) return
  const record = entry.value
  if (holdNano > 0) record.holds.remove(callId, holdNano)
  if (record.isUnread) return
  const isSince = !record.since || record.since === since
  const adds = isSince && lateMs !== undefined && (lateMs === 0 || record.readAt <= now - lateMs)
  if (adds && period > record.period && !isYetToBegin(period, now)) {
    record.period = period
    record.spent = spentNano
  } else if (adds && period === record.period) record.spent += spentNano
  entry.expiresAt = now + LIFETIME_MS.budget
}

/** Records an outcome; returns the deployment if that cooled it. */
function settleDeployment(state: State, ended: DeploymentOutcome | undefined, now: number): Cooled | undefined {
  if (!ended) return undefined
  const { deployment } = ended
  const entry =
    state.deployments.entry(deployment) ??
    state.deployments.put(deployment, unknownDeployment(), now + LIFETIME_MS.deployment)
  const known = entry.value
  const begins = finish(known, ended, now)
  entry.expiresAt = deploymentExpiresAt(known, now)
  return begins ? { deployment, until: known.cooledUntil, failures: known.failures } : undefined
}

function putEntry(state: State, { log, text, keep }: Settlement['entries'][number], now: number): void {
  const entries = state.logs.get(log) ?? []
  entries.unshift(text)
  if (entries.length > keep) entries.length = keep
  state.logs.set(log, entries, now + LIFETIME_MS.log)
}
