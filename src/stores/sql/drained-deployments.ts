import { queries, rowsOf } from './query.ts'
import { routingChange } from './records/routing-change.ts'
import type { Sql } from './sql.ts'

/** Deployments that get no new calls. Every process sees a change as it sees other changes of routing. */
export interface DrainedDeployments {
  all(): Promise<ReadonlySet<string>>
  /** False: it was drained already. */
  drain(deploymentId: string): Promise<boolean>
  /** False: it was not drained. */
  resume(deploymentId: string): Promise<boolean>
}

export function drainedDeployments(database: Sql): DrainedDeployments {
  return {
    async all() {
      const rows = await rowsOf(database, queries.selectFrom('gateway_drained_deployment').select('deployment_id'))
      return new Set(rows.map(({ deployment_id }) => deployment_id))
    },
    async drain(deployment_id) {
      const change = queries
        .insertInto('gateway_drained_deployment')
        .values({ deployment_id })
        .onConflict((conflict) => conflict.doNothing())
        .returning('deployment_id')
      return (await rowsOf(database, routingChange(change))).length > 0
    },
    async resume(deployment_id) {
      const change = queries
        .deleteFrom('gateway_drained_deployment')
        .where('deployment_id', '=', deployment_id)
        .returning('deployment_id')
      return (await rowsOf(database, routingChange(change))).length > 0
    },
  }
}
