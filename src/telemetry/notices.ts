/** What is told of a budget. */
interface BudgetFacts {
  readonly at: string
  /** The name of its refusal, e.g. `team_budget`. */
  readonly scope: string
  /** The level and id of its owner. */
  readonly level: string
  readonly id: string
  /** The model whose calls alone it pays for; '' if it pays for all. */
  readonly model: string
  readonly subject: string
  /** When its period began; '' if it never resets. */
  readonly period: string
  readonly spentNano: number
}

/** A budget has passed its soft limit. Emitted once a period. */
export interface SoftBudgetExceeded extends BudgetFacts {
  readonly type: 'budget.soft_exceeded'
  readonly softNano: number
}

/** A budget has refused a call for which it has no room. Emitted once a period. */
export interface BudgetExceeded extends BudgetFacts {
  readonly type: 'budget.exceeded'
  readonly limitNano: number
}

export type BudgetMoved = SoftBudgetExceeded | BudgetExceeded

/** A deployment left the rotation after failures. Emitted once for each cooldown. */
export interface DeploymentCooled {
  readonly type: 'deployment.cooled'
  readonly at: string
  readonly deployment: string
  readonly model: string
  readonly provider: string
  /** The kind of the last failure. */
  readonly error: string
  /** Failures since its last success. */
  readonly failures: number
  /** When it is probed again. */
  readonly until: string
}

/** A batch has ended, and its files are there. Emitted once. */
export interface BatchFinished {
  readonly type: 'batch.finished'
  readonly at: string
  readonly batchId: string
  readonly status: 'completed' | 'failed' | 'expired' | 'cancelled'
  readonly endpoint: string
  readonly keyId: string
  readonly teamId: string
  readonly organizationId: string
  readonly userId: string
  readonly requests: number
  readonly completed: number
  readonly failed: number
  readonly costNano: number
  readonly createdAt: string
}

/** A key will end soon. Emitted once for each key, end and number of days. */
export interface KeyExpiring {
  readonly type: 'key.expiring'
  readonly at: string
  readonly keyId: string
  readonly keyName: string
  readonly teamId: string
  readonly organizationId: string
  readonly userId: string
  readonly expiresAt: string
  /** The configured number of days before its end that has come. */
  readonly days: number
}

/** What happens seldom and somebody should hear of. */
export type Notice = BudgetMoved | DeploymentCooled | BatchFinished | KeyExpiring
export const NOTICES = [
  'budget.soft_exceeded',
  'budget.exceeded',
  'deployment.cooled',
  'batch.finished',
  'key.expiring',
] as const satisfies readonly Notice['type'][]
