/** How the ledger keeps a fact of a finished call, and what it is for. */
export interface CallFact {
  /** The type of its column. */
  readonly type: 'text' | 'timestamptz' | 'text[]' | 'boolean' | 'integer' | 'bigint' | 'double precision'
  /** null says that it is not known. */
  readonly nullable?: true
  /** '' says that there was none, which answers show as null. */
  readonly mayLack?: true
  /** Calls that are alike have it in common; everything else is measured of each. */
  readonly alike?: true
  /** Added up in every table of sums. A function of its own for each: it runs for every call, and is faster than one that
   *  looks a name up. */
  readonly summed?: (row: Measured) => number | null | undefined
  /** Nano-dollars, which answers show in dollars. */
  readonly money?: true
  /** All that it can be. */
  readonly values?: readonly string[]
  /** What it is, where the name does not say it. */
  readonly says?: string
}

type Measured = Readonly<Record<string, number | null>>

/** Everything that the ledger keeps of a finished call, in the order of answers. The ledger's columns and the statement
 *  that writes them, the tables of sums, the folds, the types of the schema, the log and its files are derived from this
 *  table; where each fact comes from is in `telemetry/call-facts.ts`. */
export const CALL_FACTS = {
  call_id: { type: 'text' },
  request_id: { type: 'text' },
  at: { type: 'timestamptz', says: 'When it was over.' },
  endpoint: { type: 'text', alike: true },
  mode: { type: 'text', alike: true },
  requested_model: { type: 'text', alike: true, says: 'What the client asked for.' },
  model: {
    type: 'text',
    alike: true,
    mayLack: true,
    says: 'The group that served, which after a fallback is another one.',
  },
  deployment: { type: 'text', alike: true, mayLack: true },
  provider: { type: 'text', alike: true, mayLack: true },
  key_id: { type: 'text', alike: true, mayLack: true },
  team_id: { type: 'text', alike: true, mayLack: true },
  organization_id: { type: 'text', alike: true, mayLack: true },
  user_id: { type: 'text', alike: true, mayLack: true },
  tags: { type: 'text[]', alike: true },
  streamed: { type: 'boolean', alike: true },
  ending: { type: 'text', alike: true, values: ['answered', 'failed', 'truncated', 'client_closed'] },
  status: { type: 'integer', alike: true, says: 'What the client saw; 200 for a stream that broke off.' },
  error_type: { type: 'text', alike: true, mayLack: true },
  cache: { type: 'text', alike: true, values: ['hit', 'miss', 'off'] },
  attempts: { type: 'integer', alike: true },
  rescued: { type: 'integer', alike: true, says: 'Deployments whose broken answer another one finished.' },
  input_tokens: { type: 'bigint', summed: ({ input_tokens }) => input_tokens },
  output_tokens: { type: 'bigint', summed: ({ output_tokens }) => output_tokens },
  cached_input_tokens: { type: 'bigint', summed: ({ cached_input_tokens }) => cached_input_tokens },
  cache_creation_input_tokens: {
    type: 'bigint',
    summed: ({ cache_creation_input_tokens }) => cache_creation_input_tokens,
  },
  reasoning_tokens: { type: 'bigint', summed: ({ reasoning_tokens }) => reasoning_tokens },
  images: { type: 'bigint', summed: ({ images }) => images },
  audio_seconds: { type: 'double precision', summed: ({ audio_seconds }) => audio_seconds },
  characters: { type: 'bigint', summed: ({ characters }) => characters },
  rerank_units: { type: 'bigint', summed: ({ rerank_units }) => rerank_units },
  estimated: {
    type: 'boolean',
    alike: true,
    says: 'The provider told no usage: what went through was counted.',
  },
  cost_nano: {
    type: 'bigint',
    nullable: true,
    summed: ({ cost_nano }) => cost_nano,
    money: true,
    says: 'US dollars; null: the price is unknown.',
  },
  saved_nano: {
    type: 'bigint',
    summed: ({ saved_nano }) => saved_nano,
    money: true,
    says: 'US dollars that an answer out of the cache would have cost.',
  },
  overhead_ms: { type: 'double precision' },
  first_token_ms: { type: 'double precision', nullable: true },
  upstream_ms: { type: 'double precision', nullable: true },
  total_ms: { type: 'double precision', summed: ({ total_ms }) => total_ms },
} as const satisfies Readonly<Record<string, CallFact>>

export type CallFacts = typeof CALL_FACTS
export type FactName = keyof CallFacts
/** The facts that have a mark. */
export type FactsThat<Mark extends keyof CallFact> = {
  [Name in FactName]: CallFacts[Name] extends Readonly<Record<Mark, unknown>> ? Name : never
}[FactName]

export const FACT_NAMES = Object.keys(CALL_FACTS) as readonly FactName[]

export const factOf = (name: FactName): CallFact => CALL_FACTS[name]

export function factsThat<const Mark extends 'alike' | 'summed' | 'money' | 'mayLack'>(
  mark: Mark,
): readonly FactsThat<Mark>[] {
  return FACT_NAMES.filter((name) => factOf(name)[mark]) as unknown as FactsThat<Mark>[]
}
