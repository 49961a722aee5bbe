import type { CallFact, CallFacts, FactName } from './call-facts.ts'

type Value<Type extends CallFact['type']> = Type extends 'text' | 'timestamptz'
  ? string
  : Type extends 'text[]'
    ? readonly string[]
    : Type extends 'boolean'
      ? boolean
      : number

/** One model call as a row of the ledger. Money is in integer nano-dollars; null means an unknown price. */
export type SpendRow = {
  readonly [Name in FactName]: CallFacts[Name] extends { readonly nullable: true }
    ? Value<CallFacts[Name]['type']> | null
    : Value<CallFacts[Name]['type']>
}

/** A call with its detail and the budgets that its cost, or a part of it, is charged to. */
export interface ChargedRow extends SpendRow {
  /** `CallDetail` as JSON; null if the facts say everything. */
  readonly detail: string | null
  readonly charges: readonly {
    readonly subject: string
    readonly period: string
    readonly costNano?: number | undefined
  }[]
}
