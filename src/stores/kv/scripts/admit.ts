import { activeKey, budgetKey, deploymentKey, holdKey, type Key, quotaKey, slotKey, versionKey } from '../keys.ts'
import {
  type Admission,
  type Admitted,
  type Quota,
  type QuotaStates,
  type Refused,
  type Stale,
  StoreUnavailable,
} from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { ADMIT } from './admit-text.ts'
import { DEPLOYMENTS, limitArguments, readSignals } from './deployments.ts'
import { type Argument, luaScript, type Reply, type Script } from './script.ts'

function encode(call: Admission): { keys: Key[]; args: Argument[] } {
  const keys: Key[] = []
  const args: Argument[] = [call.callId, call.attemptId, milliseconds(call.leaseSeconds)]

  args.push(call.versions.length)
  for (const { record, version, remembered } of call.versions) {
    keys.push(versionKey(record))
    args.push(version, remembered ? '1' : '0')
  }

  const subjects = [...new Set(call.quotas.map(({ subject }) => subject))]
  keys.push(...subjects.map(quotaKey))
  args.push(subjects.length, call.quotas.length)
  for (const { subject, unit, window, limit } of call.quotas) {
    args.push(subjects.indexOf(subject) + 1, `${unit}:${window}`, window, limit, unit === 'requests' ? 1 : call.tokens)
  }

  args.push(call.slots.length)
  for (const { subject, limit } of call.slots) {
    keys.push(slotKey(subject))
    args.push(limit)
  }

  args.push(call.budgets.length)
  for (const { subject, limitNano, holdNano, likelyNano = holdNano, period, seedNano } of call.budgets) {
    keys.push(budgetKey(subject), holdKey(subject))
    args.push(limitNano, holdNano, likelyNano, period, seedNano ?? '')
  }

  args.push(call.candidates.length)
  for (const candidate of call.candidates) {
    keys.push(deploymentKey(candidate.deployment), activeKey(candidate.deployment))
    args.push(...limitArguments(candidate))
  }
  return { keys, args }
}

function decode(reply: Reply, call: Admission): Admitted | Refused | Stale {
  const kind = reply.text()
  if (kind === 'stale') {
    const records = readIndexes(reply.list(), call.versions).map(({ record }) => record)
    return { kind, records, budgets: readIndexes(reply.list(), call.budgets).map(({ subject }) => subject) }
  }
  const now = reply.number()
  if (kind === 'refused') {
    const reason = reply.text()
    if (reason !== 'quota' && reason !== 'slot' && reason !== 'budget') throw new StoreUnavailable('nonsense')
    const at = reply.number()
    const { scope } = item<{ readonly scope: string }>(REFUSERS[reason](call), at)
    const quotas = readQuotas(reply.list(), call.quotas)
    return { kind, now, reason, scope, resetsAt: reason === 'quota' ? quotas.resetsAt[at] : undefined, quotas }
  }
  if (kind !== 'admitted') throw new StoreUnavailable('nonsense')
  const reserved = reply.number()
  const quotas = readQuotas(reply.list(), call.quotas)
  const signals = reply.list()
  const spent = reply.list()
  return {
    kind,
    now,
    quotas,
    spentNano: call.budgets.map(() => spent.number()),
    reserved: reserved < 0 ? undefined : item(call.candidates, reserved).deployment,
    signals: call.candidates.map(({ deployment }) => readSignals(signals.list(), deployment)),
  }
}

function readQuotas(states: Reply, quotas: readonly Quota[]): QuotaStates {
  const used: number[] = []
  const resetsAt: number[] = []
  for (let index = 0; index < quotas.length; index++) {
    used.push(states.number())
    resetsAt.push(states.number())
  }
  return { used, resetsAt }
}

const REFUSERS = {
  quota: (call: Admission) => call.quotas,
  slot: (call: Admission) => call.slots,
  budget: (call: Admission) => call.budgets,
}

function item<Item>(items: readonly Item[], index: number): Item {
  const found = items[index]
  if (found === undefined) throw new StoreUnavailable('nonsense')
  return found
}

function readIndexes<Item>(indexes: Reply, items: readonly Item[]): Item[] {
  const found: Item[] = []
  while (indexes.left > 0) found.push(item(items, indexes.number()))
  return found
}

export const admitScript: Script<Admission, Admitted | Refused | Stale> = {
  text: luaScript(DEPLOYMENTS, ADMIT),
  encode,
  decode,
}
