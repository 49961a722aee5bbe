import { answerKey, budgetKey, clearedKey, holdKey, type Key, leadKey, providerIdKey, responseKey } from '../keys.ts'
import type { StoredValue } from '../stored-value.ts'
import { milliseconds } from '../windows.ts'
import { forgetBudget } from './budgets.ts'
import type { State, Texts } from './state.ts'

/** Budgets can be removed by key; their spend is then read from the database. */
const BUDGETS = budgetKey('')
/** What calls hold of them is removed with the record itself. */
const HOLDS = holdKey('')
/** Provider ids have a map of their own, because their number would evict other values. */
const PROVIDER_IDS = providerIdKey('')
const ANSWERS = answerKey('')
const RESPONSES = responseKey('', '').slice(0, -1)
const LEADS = leadKey('')
const CLEARINGS = clearedKey('', '').slice(0, clearedKey('', '').indexOf('['))

/** The texts among which a key is. */
export function valuesOf(state: State, key: string): Texts {
  if (key.startsWith(PROVIDER_IDS)) return state.providerIds
  if (key.startsWith(ANSWERS)) return state.answers
  if (key.startsWith(RESPONSES)) return state.responses
  if (key.startsWith(LEADS)) return state.leads
  return key.startsWith(CLEARINGS) ? state.clearings : state.values
}

/** Stores a value, unless its meter is full. */
export function putMetered(state: State, { key, text, ttlSeconds, meter }: StoredValue, now: number): void {
  const ends = now + milliseconds(ttlSeconds)
  if (meter) {
    const known = state.meters.get(meter.key) ?? { used: 0, ends }
    if (known.used + text.length > meter.most) return
    known.used += text.length
    state.meters.set(meter.key, known, known.ends)
  }
  valuesOf(state, key).set(key, text, ends)
}

export function removeKeys(state: State, keys: readonly Key[], now: number): void {
  for (const key of keys) {
    if (key.startsWith(BUDGETS)) forgetBudget(state, key.slice(BUDGETS.length), now)
    else if (key.startsWith(HOLDS)) state.budgets.delete(key.slice(HOLDS.length))
    else valuesOf(state, key).delete(key)
  }
}
