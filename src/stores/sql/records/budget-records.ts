import { sql } from 'kysely'
import { queries, rowsOf } from '../query.ts'
import type { Sql } from '../sql.ts'

/** One budget in one of its periods. */
export interface BudgetPeriod {
  readonly subject: string
  readonly period: string
}

/** What a budget has spent in a period. */
export interface BudgetSpent extends BudgetPeriod {
  readonly spentNano: number
}

/** The spend of budgets in the database, which is the authority. */
export interface BudgetRecords {
  /** Resolves with nano-dollars in the order of `of`; 0 for a budget without spend. */
  spent(of: readonly BudgetPeriod[]): Promise<number[]>
  /** Notes that operators are told of a limit that a budget has passed in a period. True once in a period over all
   *  processes, and once more for another limit. */
  tell(of: BudgetPeriod, passed: PassedLimit, limitNano: number): Promise<boolean>
}

/** The limit that a budget has passed. */
export type PassedLimit = 'soft' | 'exceeded'

export function budgetRecords(database: Sql): BudgetRecords {
  return {
    async spent(of) {
      if (of.length === 0) return []
      const places = of.map(({ subject, period }) => sql`(${subject}::text, ${period}::text)`)
      const rows = await rowsOf(
        database,
        queries
          .selectFrom('gateway_budget')
          .select(['subject', 'period', 'spent_nano'])
          .where(sql<boolean>`(subject, period) IN (VALUES ${sql.join(places)})`),
      )
      return of.map(({ subject, period }) => {
        const found = rows.find((row) => row.subject === subject && row.period === period)
        return found ? Number(found.spent_nano) : 0
      })
    },
    async tell({ subject, period }, passed, limitNano) {
      const told = sql.id(`told_${passed}_nano`)
      const noted = await rowsOf(
        database,
        sql`
          INSERT INTO gateway_budget AS budget (subject, period, ${told}) VALUES (${subject}, ${period}, ${limitNano})
          ON CONFLICT (subject, period) DO UPDATE SET ${told} = excluded.${told}
          WHERE budget.${told} IS DISTINCT FROM excluded.${told} RETURNING subject`,
      )
      return noted.length > 0
    },
  }
}
