import type { Cached } from '../answer-cache.ts'
import type { CapacityUnit } from '../deployment-signals.ts'
import { activeKey, budgetKey, deploymentKey, holdKey, type Key, quotaKey, slotKey, versionKey } from '../keys.ts'
import {
  type Admission,
  type Admitted,
  type HeldVersion,
  type Quota,
  type QuotaStates,
  type Refused,
  type Stale,
  StoreUnavailable,
} from '../shared-store.ts'
import { milliseconds } from '../windows.ts'
import { ADMIT, COUNTED } from './admit-text.ts'
import { DEPLOYMENTS, preferenceCode, pushLimits, readSignals } from './deployments.ts'
import { type Argument, inDigits, luaScript, type Prepared, prepared, type Reply, type Script } from './script.ts'

function encode(call: Admission): { keys: Key[]; args: Argument[] } {
  const { cache } = call
  const keys: Key[] = []
  const args: Argument[] = [call.callId, call.attemptId, milliseconds(call.leaseSeconds)]

  const versions = ofVersions(call.versions)
  const quotas = ofQuotas(call.quotas)
  keys.push(...versions.keys, ...quotas.keys)
  args.push(versions.args, call.tokens, quotas.args)

  args.push(call.slots.length)
  for (const { subject, limit } of call.slots) {
    keys.push(slotKey(subject))
    args.push(limit)
  }

  args.push(cache?.answers.length ?? 0)
  if (cache) {
    const { answers, clearings, maxAgeSeconds, lead, leadSeconds } = cache
    keys.push(...answers, ...clearings, lead)
    args.push(clearings.length, milliseconds(maxAgeSeconds), milliseconds(leadSeconds))
  }

  args.push(call.budgets.length)
  for (const { subject, limitNano, holdNano, likelyNano = holdNano, ownNano = [], period, seedNano } of call.budgets) {
    keys.push(budgetKey(subject), holdKey(subject))
    args.push(limitNano, inDigits(holdNano), likelyNano, period, seedNano ?? '', ownNano.length)
    args.push(...ownNano.map(inDigits))
  }

  const { candidates, preference } = call
  args.push(preferenceCode(preference), candidates.length)
  const measured: readonly CapacityUnit[] = preference
    ? [...new Set(['requests', 'tokens', preference.unit] as const)]
    : []
  for (const { deployment, limits, capacity = {} } of candidates) {
    keys.push(deploymentKey(deployment), activeKey(deployment))
    pushLimits(args, limits)
    if (preference) pushLimits(args, capacity, measured)
  }
  return { keys, args }
}

interface Encoded {
  readonly keys: readonly Key[]
  readonly args: Prepared
}

/** Encodes a list once: all calls of a caller have the same lists. */
function encodedOnce<Item>(encodeList: (list: readonly Item[]) => Encoded): typeof encodeList {
  const known = new WeakMap<readonly Item[], Encoded>()
  return (list) => {
    let encoded = known.get(list)
    if (!encoded) {
      encoded = encodeList(list)
      known.set(list, encoded)
    }
    return encoded
  }
}

const ofVersions = encodedOnce((versions: readonly HeldVersion[]) => ({
  keys: versions.map(({ record }) => versionKey(record)),
  args: prepared([versions.length, ...versions.flatMap(({ version, remembered }) => [version, remembered ? 1 : 0])]),
}))

const ofQuotas = encodedOnce((quotas: readonly Quota[]) => {
  const subjects = [...new Set(quotas.map(({ subject }) => subject))]
  const args = quotas.flatMap(({ subject, unit, window, limit }) => [
    subjects.indexOf(subject) + 1,
    COUNTED.findIndex((one) => one.unit === unit && one.window === window) + 1,
    limit,
  ])
  return { keys: subjects.map(quotaKey), args: prepared([subjects.length, quotas.length, ...args]) }
})

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
    const { scope, subject } = item<{ readonly scope: string; readonly subject: string }>(REFUSERS[reason](call), at)
    const quotas = readQuotas(reply.numbers(), call.quotas)
    const resetsAt = reason === 'quota' ? quotas.resetsAt[at] : undefined
    const refused = { kind, now, reason, scope, subject, resetsAt, quotas } as const
    return reason === 'budget' ? { ...refused, spentNano: reply.number() } : refused
  }
  if (kind !== 'admitted') throw new StoreUnavailable('nonsense')
  const reserved = reply.number()
  const probe = reply.flag()
  const quotas = readQuotas(reply.numbers(), call.quotas)
  const signals = reply.list()
  const spentNano = reply.numbers()
  if (spentNano.length !== call.budgets.length) throw new StoreUnavailable('nonsense')
  const cached = call.cache && readCached(reply)
  const reserves = cached?.state !== 'hit' && cached?.state !== 'follow'
  return {
    kind,
    now,
    quotas,
    spentNano,
    reserved: reserved < 0 ? undefined : { deployment: item(call.candidates, reserved).deployment, at: now, probe },
    signals: reserves ? call.candidates.map(({ deployment }) => readSignals(signals.list(), deployment)) : [],
    ...(cached ? { cached } : {}),
  }
}

const CACHED = ['hit', 'follow', 'lead', 'alone'] as const

function readCached(reply: Reply): Cached {
  const told = reply.text()
  const state = CACHED.find((one) => one === told)
  if (!state) throw new StoreUnavailable('nonsense')
  const texts = reply.list()
  const answers: (string | undefined)[] = []
  while (texts.left() > 0) answers.push(texts.text() || undefined)
  return { state, answers }
}

function readQuotas(states: readonly number[], quotas: readonly Quota[]): QuotaStates {
  if (states.length !== 2 * quotas.length) throw new StoreUnavailable('nonsense')
  const used: number[] = []
  const resetsAt: number[] = []
  for (let at = 0; at < states.length; at += 2) {
    used.push(states[at] as number)
    resetsAt.push(states[at + 1] as number)
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
  while (indexes.left() > 0) found.push(item(items, indexes.number()))
  return found
}

export const admitScript: Script<Admission, Admitted | Refused | Stale> = {
  text: luaScript(DEPLOYMENTS, ADMIT),
  encode,
  decode,
}
