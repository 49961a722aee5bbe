import type { CallFact, CallFacts, FactName } from './call-facts.ts'

type Value<Type extends CallFact['type']> = Type extends 'text' | 'timestamptz'
  ? string
  : Type extends 'text[]'
    ? readonly string[]
    : Type extends 'boolean'
      ? boolean
      : number

/** One model call as the ledger keeps it. Money is integer nano-dollars; null is a price that nobody knows. */
export type SpendRow = {
  readonly [Name in FactName]: CallFacts[Name] extends { readonly nullable: true }
    ? Value<CallFacts[Name]['type']> | null
    : Value<CallFacts[Name]['type']>
}

/** What its cost, or a part of it, is added to in `gateway_budget`. */
export interface ChargedRow extends SpendRow {
  readonly charges: readonly {
    readonly subject: string
    readonly period: string
    readonly costNano?: number | undefined
  }[]
}
