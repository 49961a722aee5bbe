import { GatewayError } from '../../lib/errors.ts'
import { SqlError } from '../../stores/sql/sql.ts'

/** What the database answers; where it is away, the refusal that says so. */
export async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof SqlError) || (error.code !== undefined && !/^(08|53|57P)/.test(error.code))) throw error
    throw new GatewayError(
      'store_unavailable',
      'The database is away. Nothing is known of what was asked; try again.',
      {
        code: 'database_unavailable',
        cause: error,
      },
    )
  }
}
