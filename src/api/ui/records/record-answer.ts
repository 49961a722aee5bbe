import type * as z from 'zod'
import { NANO } from '../../../lib/money.ts'
import { accountsOf } from '../../../limits/accounts.ts'
import { type Level, LIMIT_FIELDS, type LimitedScope } from '../../../limits/limited-scope.ts'
import type { ApiServices } from '../../scope.ts'
import type { Fields } from './record-fields.ts'
import type { RecordKind, ScopeRow } from './record-kind.ts'

/** int8 and numeric are text on the wire from the database, and numbers in answers. */
const NUMBERS: ReadonlySet<string> = new Set([
  ...LIMIT_FIELDS,
  'max_parallel_requests',
  'max_budget',
  'soft_budget',
  'self_service_budget_ceiling',
  'version',
])

type Shown<Row extends ScopeRow> = Pick<RecordKind<Row>, 'level' | 'id' | 'answer' | 'facts' | 'derived'>

/** Records as answers: the fields of the schema and nothing else, with what each has spent in its budget's period. */
export async function answersOf<Row extends ScopeRow>(
  services: ApiServices,
  kind: Shown<Row>,
  rows: readonly Row[],
): Promise<Fields[]> {
  const records = rows.map(numbered)
  const now = services.storeClock.now()
  const [spent, facts] = await Promise.all([
    services.budgets.spent(
      records.map((record) => {
        const { subject, periodAt } = ownAccount(kind.level, String(record[kind.id]), record)
        return { subject, period: periodAt(now) }
      }),
    ),
    kind.facts?.(services, rows),
  ])
  return records.map((record, index) =>
    answerOf(services, kind, { ...record, spend: (spent[index] ?? 0) / NANO, ...facts?.[index] }),
  )
}

/** A record that was made just now, and has spent nothing. */
export async function newAnswer<Row extends ScopeRow>(
  services: ApiServices,
  kind: Shown<Row>,
  row: Row,
): Promise<Fields> {
  const facts = await kind.facts?.(services, [row])
  return answerOf(services, kind, { ...numbered(row), spend: 0, ...facts?.[0] })
}

function answerOf<Row extends ScopeRow>(services: ApiServices, kind: Shown<Row>, record: Fields): Fields {
  return fieldsOf(kind.answer(), { ...record, ...kind.derived?.(record, services.clock.now()) })
}

/** The fields of a record that its answer has, and nothing else of it. */
export function fieldsOf({ shape }: z.ZodObject, record: object): Fields {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, (record as Fields)[name]]))
}

/** A row with the numbers among its columns as numbers. */
export function numbered(row: object): Fields {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value !== null && NUMBERS.has(name) ? Number(value) : value]),
  )
}

/** The subjects of all budgets of a record. */
export function budgetSubjects(level: Level, id: string, row: object): string[] {
  return accountsOf(scopeOf(level, id, numbered(row))).map(({ subject }) => subject)
}

/** The subjects of budgets that only one of two versions of a record has. The shared store counts a budget only while
 *  there is one, so that its sums of these are out of date. */
export function recountedBudgets(level: Level, id: string, row: object, before: object) {
  const counted = (record: object) =>
    accountsOf(scopeOf(level, id, numbered(record)))
      .filter(({ limitNano, softNano }) => limitNano !== undefined || softNano !== undefined)
      .map(({ subject }) => subject)
  const [now, then] = [counted(row), counted({ ...row, ...before })]
  return {
    given: now.filter((subject) => !then.includes(subject)),
    taken: then.filter((subject) => !now.includes(subject)),
  }
}

function ownAccount(level: Level, id: string, record: Fields) {
  // The scope's own account comes first; those of its models follow.
  const [account] = accountsOf({ ...scopeOf(level, id, record), model_max_budget: {} })
  if (!account) throw new TypeError('a scope has no account of its own')
  return account
}

function scopeOf(level: Level, id: string, record: Fields): LimitedScope {
  return { ...(record as Omit<LimitedScope, 'level' | 'id'>), level, id }
}
