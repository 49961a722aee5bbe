/** How the ledger stores a fact of a finished call, and how it is used. */
export interface CallFact {
  /** The type of its column. */
  readonly type: 'text' | 'timestamptz' | 'text[]' | 'boolean' | 'integer' | 'bigint' | 'double precision'
  /** Reads it from a row. It runs for every call: a function for each fact is faster than a lookup by name. */
  readonly read: (row: Row) => unknown
  /** null means that the value is unknown. */
  readonly nullable?: true
  /** '' means that there was none, which API answers show as null. */
  readonly mayLack?: true
  /** Added to ledgers that had calls already: its column's default is in their rows, and in those of earlier builds that
   *  still run. */
  readonly later?: true
  /** Part of the shape by which calls are folded; all other facts are measured for each call. */
  readonly alike?: true
  /** Added to every table of sums. */
  readonly summed?: true
  /** Nano-dollars, which API answers show in dollars. */
  readonly money?: true
  /** All possible values. */
  readonly values?: readonly string[]
  /** Describes the fact in the API's documentation if the name does not. */
  readonly says?: string
}

type Row = Readonly<Record<string, unknown>>

/** All facts that the ledger stores of a finished call, in the order of API answers. The ledger's columns and its
 *  statement, the tables of sums, the folds, the types of the schema, the log and its files are derived from this
 *  table. The values come from `telemetry/call-facts.ts`. */
export const CALL_FACTS = {
  call_id: { type: 'text', read: ({ call_id }) => call_id },
  request_id: { type: 'text', read: ({ request_id }) => request_id },
  at: { type: 'timestamptz', read: ({ at }) => at, says: 'When the call ended.' },
  endpoint: { type: 'text', read: ({ endpoint }) => endpoint, alike: true },
  mode: { type: 'text', read: ({ mode }) => mode, alike: true },
  requested_model: {
    type: 'text',
    read: ({ requested_model }) => requested_model,
    alike: true,
    says: 'The model in the request.',
  },
  model: {
    type: 'text',
    read: ({ model }) => model,
    alike: true,
    mayLack: true,
    says: 'The group that served, which differs from the requested one after a fallback.',
  },
  deployment: { type: 'text', read: ({ deployment }) => deployment, alike: true, mayLack: true },
  provider: { type: 'text', read: ({ provider }) => provider, alike: true, mayLack: true },
  key_id: { type: 'text', read: ({ key_id }) => key_id, alike: true, mayLack: true },
  team_id: { type: 'text', read: ({ team_id }) => team_id, alike: true, mayLack: true },
  organization_id: { type: 'text', read: ({ organization_id }) => organization_id, alike: true, mayLack: true },
  user_id: { type: 'text', read: ({ user_id }) => user_id, alike: true, mayLack: true },
  batch_id: {
    type: 'text',
    read: ({ batch_id }) => batch_id,
    alike: true,
    mayLack: true,
    later: true,
    says: 'The batch that the call is an item of.',
  },
  prompt: {
    type: 'text',
    read: ({ prompt }) => prompt,
    alike: true,
    mayLack: true,
    later: true,
    says: 'The prompt that was rendered: `key@version`.',
  },
  tags: { type: 'text[]', read: ({ tags }) => tags, alike: true },
  streamed: { type: 'boolean', read: ({ streamed }) => streamed, alike: true },
  ending: {
    type: 'text',
    read: ({ ending }) => ending,
    alike: true,
    values: ['answered', 'failed', 'truncated', 'client_closed'],
  },
  status: {
    type: 'integer',
    read: ({ status }) => status,
    alike: true,
    says: 'The status that the client got; 200 for a stream that was cut.',
  },
  error_type: { type: 'text', read: ({ error_type }) => error_type, alike: true, mayLack: true },
  cache: { type: 'text', read: ({ cache }) => cache, alike: true, values: ['hit', 'miss', 'off'] },
  attempts: { type: 'integer', read: ({ attempts }) => attempts, alike: true },
  failed_over: {
    type: 'boolean',
    read: ({ failed_over }) => failed_over,
    alike: true,
    later: true,
    says: 'An attempt failed and another one followed.',
  },
  rescued: {
    type: 'integer',
    read: ({ rescued }) => rescued,
    alike: true,
    says: 'Deployments whose cut answer another one continued.',
  },
  input_tokens: { type: 'bigint', read: ({ input_tokens }) => input_tokens, summed: true },
  output_tokens: { type: 'bigint', read: ({ output_tokens }) => output_tokens, summed: true },
  cached_input_tokens: { type: 'bigint', read: ({ cached_input_tokens }) => cached_input_tokens, summed: true },
  cache_creation_input_tokens: {
    type: 'bigint',
    read: ({ cache_creation_input_tokens }) => cache_creation_input_tokens,
    summed: true,
  },
  reasoning_tokens: { type: 'bigint', read: ({ reasoning_tokens }) => reasoning_tokens, summed: true },
  images: { type: 'bigint', read: ({ images }) => images, summed: true },
  audio_seconds: { type: 'double precision', read: ({ audio_seconds }) => audio_seconds, summed: true },
  characters: { type: 'bigint', read: ({ characters }) => characters, summed: true },
  rerank_units: { type: 'bigint', read: ({ rerank_units }) => rerank_units, summed: true },
  estimated: {
    type: 'boolean',
    read: ({ estimated }) => estimated,
    alike: true,
    says: 'The usage is estimated: the provider reported none.',
  },
  cost_nano: {
    type: 'bigint',
    read: ({ cost_nano }) => cost_nano,
    nullable: true,
    summed: true,
    money: true,
    says: 'US dollars; null: the price is unknown.',
  },
  saved_nano: {
    type: 'bigint',
    read: ({ saved_nano }) => saved_nano,
    summed: true,
    money: true,
    says: 'US dollars that a cached answer saved.',
  },
  overhead_ms: { type: 'double precision', read: ({ overhead_ms }) => overhead_ms },
  first_token_ms: { type: 'double precision', read: ({ first_token_ms }) => first_token_ms, nullable: true },
  upstream_ms: { type: 'double precision', read: ({ upstream_ms }) => upstream_ms, nullable: true },
  total_ms: { type: 'double precision', read: ({ total_ms }) => total_ms, summed: true },
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
  return FACT_NAMES.filter((name) => factOf(name)[mark]) as FactsThat<Mark>[]
}
