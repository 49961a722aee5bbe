import * as z from 'zod'
import { dollarsOf } from '../../../lib/money.ts'
import { type CallFact, FACT_NAMES, type FactName, factOf, factsThat } from '../../../stores/sql/spend/call-facts.ts'
import type { LoggedCall } from '../../../stores/sql/spend/spend-log.ts'

const FIELDS: Readonly<Record<CallFact['type'], () => z.ZodType>> = {
  text: () => z.string(),
  timestamptz: () => z.iso.datetime(),
  'text[]': () => z.array(z.string()),
  boolean: () => z.boolean(),
  integer: () => z.int(),
  bigint: () => z.int(),
  'double precision': () => z.number(),
}

const NUMBERS: ReadonlySet<CallFact['type']> = new Set(['integer', 'bigint', 'double precision'])

/** The name of a fact in answers: money loses its unit, `cost_nano` is `cost`. */
const shownAs = (name: FactName) => (factOf(name).money ? name.replace(/_nano$/, '') : name)

/** The facts as answers show them. */
export function factFields(names: readonly FactName[] = FACT_NAMES): Record<string, z.ZodType> {
  return Object.fromEntries(names.map((name) => [shownAs(name), fieldOf(factOf(name))]))
}

/** The usage of one call or the sum of many, as the ledger counts it. */
export function usageFields(): Record<string, z.ZodType> {
  return factFields(factsThat('summed').filter((name) => !factOf(name).money && name !== 'total_ms'))
}

function fieldOf({ type, values, money, nullable, mayLack, says }: CallFact): z.ZodType {
  const field = values ? z.enum(values) : money ? z.number() : FIELDS[type]()
  const shown = nullable || mayLack ? field.nullable() : field
  return says === undefined ? shown : shown.describe(says)
}

const SHOWN = FACT_NAMES.map((name) => ({ name, as: shownAs(name), fact: factOf(name) }))

/** A call of the ledger as answers show it. */
export function factsAnswer(call: LoggedCall): Record<string, unknown> {
  const answer: Record<string, unknown> = {}
  for (const { name, as, fact } of SHOWN) answer[as] = shown(fact, call[name])
  return answer
}

function shown({ type, money, mayLack }: CallFact, value: unknown): unknown {
  if (value === null || (mayLack && value === '')) return null
  if (money) return dollarsOf(String(value))
  return NUMBERS.has(type) ? Number(value) : value
}
