import * as z from 'zod'
import { budget, checked } from '../../../config/fields.ts'
import { lazily } from '../../../lib/lazily.ts'
import { readBudgetDuration } from '../../../limits/budget-period.ts'
import { storable } from '../../storable.ts'

/** A body or an answer, by the names of its fields. */
export type Fields = Readonly<Record<string, unknown>>

const LONGEST_METADATA = 65_536

const id = (reserved: readonly string[] = []) =>
  checked((text) => {
    if (!/^[A-Za-z0-9_][A-Za-z0-9._@+:|~-]{0,127}$/.test(text))
      return 'must be 1 to 128 letters, digits and . _ - @ + : | ~, and begin with a letter, a digit or _'
    return reserved.includes(text) ? 'is reserved; choose another' : undefined
  })

/** Fields of a body are left out or null where there is nothing to say. */
export const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().optional()

export const countOf = (what: string, most = Number.MAX_SAFE_INTEGER) =>
  optional(z.int().min(0).max(most)).describe(`${what}; null: unlimited, 0: none.`)

/** The id of a record: chosen at creation or made up, and then never changed. */
export const idField = (what: string, reserved?: readonly string[]) =>
  optional(id(reserved)).describe(`The id of the ${what}; default: a new one.`)
export const reference = (what: string) => optional(id()).describe(what)
export const label = (what: string) => optional(storable().max(256)).describe(what)
export const flag = (what: string) => optional(z.boolean()).describe(what)
export const dollars = (what: string) => optional(budget()).describe(`${what}, in US dollars.`)

/** The limits that every kind of record here has. */
export const limitFields = lazily(() => ({
  rpm_limit: countOf('Requests per minute'),
  tpm_limit: countOf('Tokens per minute'),
  rph_limit: countOf('Requests per hour'),
  rpd_limit: countOf('Requests per day (UTC)'),
  tpd_limit: countOf('Tokens per day (UTC)'),
  max_budget: optional(budget()).describe('The budget in US dollars; null: unlimited, 0: nothing may be spent.'),
  soft_budget: dollars('What is warned at'),
  budget_duration: optional(
    checked((text) => (readBudgetDuration(text) ? undefined : 'must be a length of time such as 24h, 30d or 1mo')),
  ).describe('The period of the budget: 24h, 30d, 1mo; null: it never resets. A change starts a new period.'),
}))

export const modelBudgets = () =>
  optional(
    z
      .record(storable().min(1).max(256), budget())
      .refine((budgets) => Object.keys(budgets).length <= 200, 'has too many'),
  ).describe('Budgets in US dollars by model name, over the same periods.')

export const metadata = () =>
  optional(
    z
      .record(z.string(), z.unknown())
      .refine(
        (value) => JSON.stringify(value).length <= LONGEST_METADATA,
        `is longer than ${LONGEST_METADATA} characters`,
      ),
  ).describe('Any JSON object to keep with the record.')

const number = () => z.number().nullable()

/** The same fields as answers show them. */
export const limitAnswer = lazily(() => ({
  max_budget: number(),
  soft_budget: number(),
  budget_duration: z.string().nullable(),
  spend: z.number().describe('Spent in the current period of the budget, in US dollars.'),
  rpm_limit: number(),
  tpm_limit: number(),
  rph_limit: number(),
  rpd_limit: number(),
  tpd_limit: number(),
}))

export const recordAnswer = lazily(() => ({
  metadata: z.record(z.string(), z.unknown()),
  version: z.int().describe('Increases with every change, also of what it may call.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}))
