import type { Sql } from '../sql.ts'

/** One budget in one of its periods. */
export interface BudgetPeriod {
  readonly subject: string
  readonly period: string
}

/** What budgets have spent, by the database: the authority. */
export interface BudgetRecords {
  /** Nano-dollars, in the order asked; 0 where nothing was spent. */
  spent(of: readonly BudgetPeriod[]): Promise<number[]>
}

export function budgetRecords(sql: Sql): BudgetRecords {
  return {
    async spent(of) {
      if (of.length === 0) return []
      const places = of.map((_, index) => `($${2 * index + 1}::text, $${2 * index + 2}::text)`).join(', ')
      const { rows } = await sql.query<BudgetPeriod & { readonly spent_nano: string }>({
        sql: `SELECT subject, period, spent_nano FROM gateway_budget WHERE (subject, period) IN (VALUES ${places})`,
        parameters: of.flatMap(({ subject, period }) => [subject, period]),
      })
      return of.map(({ subject, period }) => {
        const found = rows.find((row) => row.subject === subject && row.period === period)
        return found ? Number(found.spent_nano) : 0
      })
    },
  }
}
