import type { Cached } from '../answer-cache.ts'
import type { CapacityUnit } from '../deployment-signals.ts'
import { quotaKey, slotKey, versionKey } from '../keys.ts'
import type {
  Admission,
  Admitted,
  Budget,
  HeldVersion,
  Quota,
  QuotaStates,
  Refused,
  Slot,
  Stale,
} from '../shared-store.ts'
import { StoreUnavailable } from '../store-unavailable.ts'
import { milliseconds } from '../windows.ts'
import { ADMIT, COUNTED, YET_TO_BEGIN } from './admit-text.ts'
import { DEPLOYMENTS, limitsText, preferenceCode, readSignals } from './deployments.ts'
import { asNumber, isRead, readFlag, readList, readNumber, readNumbers, readText, type ScriptReply } from './reply.ts'
import { inDigits, luaScript, quoted, type Script, written } from './script.ts'
import { budgetKeys, deploymentKeys, type ScriptKey, type SharedKeys } from './script-keys.ts'

function encode(call: Admission): { keys: ScriptKey[]; args: string } {
  const { callId, attemptId, cache, budgets, candidates, preference } = call
  const [versions, quotas, slots] = [ofVersions(call.versions), ofQuotas(call.quotas), ofSlots(call.slots)]
  const keys: ScriptKey[] = [versions.keys, quotas.keys, slots.keys]
  let args = `${quoted(callId)},${quoted(attemptId)},${inDigits(milliseconds(call.leaseSeconds))}`
  args += `,${versions.args},${inDigits(call.tokens)},${quotas.args},${slots.args},${cache?.answers.length ?? 0}`

  if (cache) {
    const { answers, clearings, maxAgeSeconds, lead, leadSeconds } = cache
    keys.push(...answers, ...clearings, lead)
    args += `,${written([clearings.length, milliseconds(maxAgeSeconds), milliseconds(leadSeconds)])}`
  }

  args += `,${budgets.length}`
  let last: Budget | undefined
  let use = ''
  for (const budget of budgets) {
    keys.push(budgetKeys(budget.subject))
    if (!last || !isUsedAlike(budget, last)) use = useText(budget)
    last = budget
    args += `,${inDigits(budget.limitNano)}${use}`
  }

  args += `,${preferenceCode(preference)},${candidates.length}`
  const measured: readonly CapacityUnit[] = preference ? ['requests', 'tokens', preference.unit] : []
  for (const { deployment, limits, capacity = {} } of candidates) {
    keys.push(deploymentKeys(deployment))
    args += `,${limitsText(limits)}`
    if (preference) args += `,${limitsText(capacity, measured)}`
  }
  return { keys, args }
}

/** What a call makes of a budget. */
function useText({ holdNano, likelyNano = holdNano, period, since = '', seedNano, ownNano = [] }: Budget): string {
  const seed = seedNano === undefined ? '""' : inDigits(seedNano)
  const own = ownNano.map((amount) => `,"${inDigits(amount)}"`).join('')
  return `,"${inDigits(holdNano)}",${inDigits(likelyNano)},${quoted(period)},${quoted(since)},${seed},${ownNano.length}${own}`
}

/** Most calls make the same of every budget. */
const isUsedAlike = (one: Budget, other: Budget): boolean =>
  one.holdNano === other.holdNano &&
  one.likelyNano === other.likelyNano &&
  one.period === other.period &&
  one.since === other.since &&
  one.seedNano === other.seedNano &&
  one.ownNano === other.ownNano

interface Encoded {
  readonly keys: SharedKeys
  readonly args: string
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
  keys: { keys: versions.map(({ record }) => versionKey(record)) },
  args: written([versions.length, ...versions.flatMap(({ version, remembered }) => [version, remembered ? 1 : 0])]),
}))

const ofQuotas = encodedOnce((quotas: readonly Quota[]) => {
  const subjects = [...new Set(quotas.map(({ subject }) => subject))]
  const forms: string[] = []
  const args = subjects.flatMap((subject) => {
    const own = quotas.map((quota, index) => ({ ...quota, index: index + 1 })).filter((one) => one.subject === subject)
    const form = written([own.length, ...own.map(countedBy)])
    if (!forms.includes(form)) forms.push(form)
    return [forms.indexOf(form) + 1, ...own.flatMap(({ index, limit }) => [index, limit])]
  })
  const listed = [inDigits(forms.length), ...forms, written([subjects.length, ...args])]
  return { keys: { keys: subjects.map(quotaKey) }, args: listed.join(',') }
})

const countedBy = ({ unit, window }: Quota): number =>
  COUNTED.findIndex((one) => one.unit === unit && one.window === window) + 1

const ofSlots = encodedOnce((slots: readonly Slot[]) => ({
  keys: { keys: slots.map(({ subject }) => slotKey(subject)) },
  args: written([slots.length, ...slots.map(({ limit }) => limit)]),
}))

function decode(reply: ScriptReply, call: Admission): Admitted | Refused | Stale {
  const kind = readText(reply)
  const now = readNumber(reply)
  if (kind === 'stale') {
    const records = readIndexes(readList(reply), call.versions).map(({ record }) => record)
    return { kind, now, records, budgets: readIndexes(readList(reply), call.budgets).map(({ subject }) => subject) }
  }
  if (kind === 'refused') {
    const reason = readText(reply)
    if (reason !== 'quota' && reason !== 'slot' && reason !== 'budget') throw new StoreUnavailable('nonsense')
    const at = readNumber(reply)
    const { scope, subject } = item<{ readonly scope: string; readonly subject: string }>(REFUSERS[reason](call), at)
    const quotas = readQuotas(readList(reply), call.quotas)
    const resetsAt = reason === 'quota' ? quotas.resetsAt[at] : undefined
    const refused = { kind, now, reason, scope, subject, resetsAt, quotas } as const
    return reason === 'budget' ? { ...refused, spentNano: readNumber(reply) } : refused
  }
  if (kind !== 'admitted') throw new StoreUnavailable('nonsense')
  const reserved = readNumber(reply)
  const probe = readFlag(reply)
  const quotas = readQuotas(readList(reply), call.quotas)
  const signals = readList(reply)
  const spentNano = readNumbers(reply, call.budgets.length)
  const cached = call.cache && readCached(reply)
  const reserves = cached?.state !== 'hit' && cached?.state !== 'follow'
  return {
    kind,
    now,
    quotas,
    spentNano,
    reserved: reserved < 0 ? undefined : { deployment: item(call.candidates, reserved).deployment, at: now, probe },
    signals: reserves ? call.candidates.map(({ deployment }) => readSignals(readList(signals), deployment)) : [],
    ...(cached ? { cached } : {}),
  }
}

const CACHED = ['hit', 'follow', 'lead', 'alone'] as const

function readCached(reply: ScriptReply): Cached {
  const told = readText(reply)
  const state = CACHED.find((one) => one === told)
  if (!state) throw new StoreUnavailable('nonsense')
  const texts = readList(reply)
  const answers: (string | undefined)[] = []
  while (!isRead(texts)) answers.push(readText(texts) || undefined)
  return { state, answers }
}

function readQuotas({ items }: ScriptReply, { length }: readonly Quota[]): QuotaStates {
  if (items.length !== 2 * length) throw new StoreUnavailable('nonsense')
  const used = new Array<number>(length)
  const resetsAt = new Array<number>(length)
  for (let at = 0; at < length; at++) {
    used[at] = asNumber(items[2 * at])
    resetsAt[at] = asNumber(items[2 * at + 1])
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

function readIndexes<Item>(indexes: ScriptReply, items: readonly Item[]): Item[] {
  const found: Item[] = []
  while (!isRead(indexes)) found.push(item(items, readNumber(indexes)))
  return found
}

export const admitScript: Script<Admission, Admitted | Refused | Stale> = {
  text: luaScript(DEPLOYMENTS, YET_TO_BEGIN, ADMIT),
  encode,
  decode,
}
