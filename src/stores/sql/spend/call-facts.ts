/** How the ledger stores a fact of a finished call, and how it is used. */
export interface CallFact {
  /** The type of its column. */
  readonly type: 'text' | 'timestamptz' | 'text[]' | 'boolean' | 'integer' | 'bigint' | 'double precision'
  /** null means that the value is unknown. */
  readonly nullable?: true
  /** '' means that there was none, which API answers show as null. */
  readonly mayLack?: true
  /** Added to ledgers that had calls already: its column's default is in their rows, and in those of earlier builds that
   *  still run. */
  readonly later?: true
  /** Part of the shape by which calls are folded; all other facts are measured for each call. */
  readonly alike?: true
  /** Reads the value to add to every table of sums. It runs for every call: a function for each fact is faster than a
   *  lookup by name. */
  readonly summed?: (row: Measured) => number | null | undefined
  /** Nano-dollars, which API answers show in dollars. */
  readonly money?: true
  /** All possible values. */
  readonly values?: readonly string[]
  /** Describes the fact in the API's documentation if the name does not. */
  readonly says?: string
}

type Measured = Readonly<Record<string, number | null>>

/** All facts that the ledger stores of a finished call, in the order of API answers. The ledger's columns and its
 *  statement, the tables of sums, the folds, the types of the schema, the log and its files are derived from this
 *  table. The values come from `telemetry/call-facts.ts`. */
export const CALL_FACTS = {
  call_id: { type: 'text' },
  request_id: { type: 'text' },
  at: { type: 'timestamptz', says: 'When the call ended.' },
  endpoint: { type: 'text', alike: true },
  mode: { type: 'text', alike: true },
  requested_model: { type: 'text', alike: true, says: 'The model in the request.' },
  model: {
    type: 'text',
    alike: true,
    mayLack: true,
    says: 'The group that served, which differs from the requested one after a fallback.',
  },
  deployment: { type: 'text', alike: true, mayLack: true },
  provider: { type: 'text', alike: true, mayLack: true },
  key_id: { type: 'text', alike: true, mayLack: true },
  team_id: { type: 'text', alike: true, mayLack: true },
  organization_id: { type: 'text', alike: true, mayLack: true },
  user_id: { type: 'text', alike: true, mayLack: true },
  batch_id: { type: 'text', alike: true, mayLack: true, later: true, says: 'The batch that the call is an item of.' },
  prompt: {
    type: 'text',
    alike: true,
    mayLack: true,
    later: true,
    says: 'The prompt that was rendered: `key@version`.',
  },
  tags: { type: 'text[]', alike: true },
  streamed: { type: 'boolean', alike: true },
  ending: { type: 'text', alike: true, values: ['answered', 'failed', 'truncated', 'client_closed'] },
  status: { type: 'integer', alike: true, says: 'The status that the client got; 200 for a stream that was cut.' },
  error_type: { type: 'text', alike: true, mayLack: true },
  cache: { type: 'text', alike: true, values: ['hit', 'miss', 'off'] },
  attempts: { type: 'integer', alike: true },
  failed_over: {
    type: 'boolean',
    alike: true,
    later: true,
    says: 'An attempt failed and another one followed.',
  },
  rescued: { type: 'integer', alike: true, says: 'Deployments whose cut answer another one continued.' },
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
    says: 'The usage is estimated: the provider reported none.',
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
    says: 'US dollars that a cached answer saved.',
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
