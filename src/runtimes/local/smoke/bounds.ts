/** Of one answer: a model may think. */
export const ANSWER_MS = 60_000

/** How long a check waits before it fails, in milliseconds. `--patience` multiplies all of them. */
const BOUNDS = {
  /** A client's first event behind the gateway's own: what lies between adds no more. */
  heldBack: 2000,
  /** From the leaving of a client until its slot is free. */
  slotFree: 2000,
  /** From an answer until its row is in the ledger. */
  ledgerRow: 10_000,
  /** Until work by the clock has run: a new cron trigger takes its time. */
  clockRuns: 90_000,
  /** Of the shared store, which each call waits for. */
  storeRoundTrip: 100,
  /** Of the database, which a call waits for only where its key is not remembered. */
  databaseRoundTrip: 1000,
  /** Of the gateway's clock against this machine's. */
  clockSkew: 5000,
  /** How long work may wait in the database's queue. */
  queueAge: 300_000,
} as const

export type Bounds = Readonly<Record<keyof typeof BOUNDS, number>>

export function boundsWith(patience: number): Bounds {
  const entries = Object.entries(BOUNDS).map(([name, value]) => [name, value * patience])
  return Object.fromEntries(entries) as Bounds
}
