import { type CallFact, type CallFacts, type FactName, factOf } from './call-facts.ts'

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

/** The function that reads a fact from a row. */
export const readerOf = <Name extends FactName>(name: Name) => factOf(name).read as (row: SpendRow) => SpendRow[Name]

/** A call with its detail and the budgets that its cost, or a part of it, is charged to. */
export interface ChargedRow extends SpendRow {
  /** `CallDetail` as JSON; null if the facts say everything. */
  readonly detail: string | null
  readonly charges: readonly {
    readonly subject: string
    readonly period: string
    readonly since?: string | undefined
    readonly costNano?: number | undefined
  }[]
}
