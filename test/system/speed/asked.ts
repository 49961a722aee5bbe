/** What a gateway asked of its stores so far, oldest first. */
export interface Asked {
  /** The verbs of the shared store, each one round trip at most. */
  readonly store: readonly string[]
  /** The statements, by what they are for. */
  readonly sql: readonly string[]
}

/** What follows a look at a caller, beside calls. */
const SHARED = 'share a caller'
/** What follows a batch of the ledger, beside calls. */
const RAISE = 'raise'

/** Which verb a Redis command is of: each touches a kind of key that the others do not. */
export function verbOf(command: string): string {
  if (command.includes('gateway:auth:')) return SHARED
  if (!/^\W*evalsha/i.test(command)) return command
  if (command.includes('gateway:settled:')) return 'settle'
  if (/gateway:(quota|slots|version):/.test(command)) return 'admit'
  return command.includes('gateway:budget:') ? RAISE : 'startAttempt'
}

/** What goes on beside calls, whether there is one or a thousand. */
const BESIDE = [
  ['ledger', /INSERT INTO gateway_spend\b/],
  ['refusals', /INSERT INTO gateway_refusal\b/],
  ['look at a caller', /FROM gateway_key k\b/],
  ['look for changes', /^SELECT revision FROM gateway_revision/],
] as const

export function purposeOf(statement: string): string {
  return BESIDE.find(([, pattern]) => pattern.test(statement))?.[0] ?? statement
}

/** What was asked since, without what follows a look at a caller or a batch of the ledger. */
export function since(before: Asked, after: Asked): Asked {
  const store = after.store.slice(before.store.length).filter((verb) => verb !== SHARED && verb !== RAISE)
  return { store, sql: after.sql.slice(before.sql.length) }
}

/** How often the shared store was brought to the ledger's spend since. */
export function raisesSince(before: Asked, after: Asked): number {
  return after.store.slice(before.store.length).filter((verb) => verb === RAISE).length
}

/** Statements that a call waited for. */
export function onThePath({ sql }: Asked): readonly string[] {
  return sql.filter((purpose) => !BESIDE.some(([name]) => name === purpose))
}
