import {
  answer,
  type Behaviour,
  contentFiltered,
  contextWindowExceeded,
  cutAfter,
  errorEvent,
  malformedEvent,
  overloaded,
  quotaSpent,
  rateLimited,
  reset,
  serverError,
  silence,
  slowBetween,
  slowFirstToken,
  stallAfter,
} from './upstream/index.ts'

/** What one fault at the primary does to one call, whose fallback is healthy unless the row says otherwise. */
export interface Fault {
  readonly name: string
  readonly primary: readonly Behaviour[]
  readonly fallback?: readonly Behaviour[]
  /** Of `router_settings`, over those of every row. */
  readonly settings?: object
  readonly streamed?: true
  /** Calls made one after another; one when left out. Only the last is looked at, but all of them are counted. */
  readonly calls?: number
  readonly client: {
    readonly status: number
    /** The wire's `code`: of the error answer, or of the event that ends a stream. */
    readonly code?: string
    readonly text?: string
    readonly retryAfter?: number
  }
  readonly asked: { readonly primary: number; readonly fallback: number }
  readonly logged: {
    readonly ending: string
    readonly by: 'primary' | 'fallback'
    readonly attempts: number
    readonly usage: 'reported' | 'estimated' | 'none'
  }
  /** Milliseconds that the last call may take at most, where time is what the row is about. */
  readonly within?: number
}

const PRIMARY_TEXT = 'one two three four five'
export const FALLBACK_TEXT = 'six seven eight'

const said = (...changes: Parameters<typeof answer> extends [unknown?, ...infer Rest] ? Rest : never) =>
  answer({ text: PRIMARY_TEXT }, ...changes)
const fine = { status: 200, text: PRIMARY_TEXT }
const saved = { status: 200, text: FALLBACK_TEXT }
const byPrimary = { ending: 'answered', by: 'primary', attempts: 1, usage: 'reported' } as const
const byFallback = { ending: 'answered', by: 'fallback', attempts: 2, usage: 'reported' } as const
const cutShort = { ending: 'truncated', by: 'primary', attempts: 1, usage: 'estimated' } as const
const once = { primary: 1, fallback: 0 }
const each = { primary: 1, fallback: 1 }
const retrying = { num_retries: 1 }

const retryAfterForms: readonly Fault[] = [
  { form: 'in seconds', behaviour: rateLimited({ seconds: 0.2 }) },
  { form: 'in milliseconds', behaviour: rateLimited({ milliseconds: 200 }) },
  { form: 'as a reset of requests', behaviour: rateLimited({ resetRequests: '200ms' }) },
  { form: 'as a reset of tokens', behaviour: rateLimited({ resetTokens: '0.2s' }) },
].map(({ form, behaviour }) => ({
  name: `429 with Retry-After ${form} is asked again then`,
  primary: [behaviour, said()],
  settings: retrying,
  client: fine,
  asked: { primary: 2, fallback: 0 },
  logged: { ...byPrimary, attempts: 2 },
}))

/** A fault, what its client sees, who is asked how often, and what the ledger says. */
export const FAULTS: readonly Fault[] = [
  ...retryAfterForms,
  {
    name: '429 without Retry-After is asked again after a pause',
    primary: [rateLimited(), said()],
    settings: retrying,
    client: fine,
    asked: { primary: 2, fallback: 0 },
    logged: { ...byPrimary, attempts: 2 },
  },
  {
    name: '429 whose Retry-After is beyond the deadline is answered now, with it',
    primary: [rateLimited({ seconds: 40 })],
    fallback: [rateLimited({ seconds: 30 })],
    settings: { num_retries: 3 },
    client: { status: 429, code: 'upstream_rate_limited', retryAfter: 30 },
    asked: each,
    logged: { ending: 'failed', by: 'fallback', attempts: 2, usage: 'none' },
    within: 10_000,
  },
  {
    name: '429 whose date is beyond the deadline falls back at once',
    primary: [rateLimited({ date: new Date(Date.UTC(2099, 0, 1)) })],
    settings: { num_retries: 3 },
    client: saved,
    asked: each,
    logged: byFallback,
    within: 10_000,
  },
  {
    name: '429 because the money is spent falls back',
    primary: [quotaSpent()],
    client: saved,
    asked: each,
    logged: byFallback,
  },
  {
    name: '500 once is retried',
    primary: [serverError(), said()],
    settings: retrying,
    client: fine,
    asked: { primary: 2, fallback: 0 },
    logged: { ...byPrimary, attempts: 2 },
  },
  {
    name: '503 for good falls back, and is left alone by the calls that follow',
    primary: [overloaded()],
    settings: { cooldown_time: 30 },
    calls: 4,
    client: saved,
    asked: { primary: 1, fallback: 4 },
    logged: { ...byFallback, attempts: 1 },
  },
  {
    name: '503 everywhere is a clear error',
    primary: [overloaded()],
    fallback: [overloaded()],
    client: { status: 502, code: 'upstream_failed' },
    asked: each,
    logged: { ending: 'failed', by: 'fallback', attempts: 2, usage: 'none' },
  },
  { name: 'a reset before headers falls back', primary: [reset()], client: saved, asked: each, logged: byFallback },
  {
    name: 'silence of a stream falls back',
    primary: [silence()],
    streamed: true,
    client: saved,
    asked: each,
    logged: byFallback,
  },
  {
    name: 'silence falls back after the timeout',
    primary: [silence()],
    settings: { timeout: 1.5 },
    client: saved,
    asked: each,
    logged: byFallback,
    within: 10_000,
  },
  {
    name: 'silence ends at the deadline',
    primary: [silence()],
    settings: { total_timeout: 0.6 },
    client: { status: 504, code: 'upstream_timeout' },
    asked: once,
    logged: { ending: 'failed', by: 'primary', attempts: 1, usage: 'none' },
    within: 10_000,
  },
  {
    name: 'a first token that is slow but in time is waited for',
    primary: [said(slowFirstToken({ ms: 200 }))],
    streamed: true,
    client: fine,
    asked: once,
    logged: byPrimary,
  },
  {
    name: 'a first token that is too late falls back',
    primary: [said(slowFirstToken({ ms: 3000 }))],
    streamed: true,
    client: saved,
    asked: each,
    logged: byFallback,
  },
  {
    name: 'a cut in the middle is an error event, and what went out is billed',
    primary: [said(cutAfter({ frames: 4 }))],
    streamed: true,
    client: { status: 200, code: 'upstream_truncated', text: 'one two three' },
    asked: once,
    logged: cutShort,
  },
  {
    name: 'a proper end in the middle is no end of the answer',
    primary: [said(cutAfter({ frames: 4, how: 'end' }))],
    streamed: true,
    client: { status: 200, code: 'upstream_truncated', text: 'one two three' },
    asked: once,
    logged: cutShort,
  },
  {
    name: 'a stall in the middle is an error event after the idle time',
    primary: [said(stallAfter({ frames: 4 }))],
    streamed: true,
    client: { status: 200, code: 'upstream_timeout', text: 'one two three' },
    asked: once,
    logged: cutShort,
    within: 10_000,
  },
  {
    name: 'an error event in the middle is told as one',
    primary: [said(errorEvent(4), slowBetween({ ms: 20 }))],
    streamed: true,
    client: { status: 200, code: 'upstream_failed', text: 'one two three' },
    asked: once,
    logged: cutShort,
  },
  {
    name: 'an error as the first event falls back unseen',
    primary: [said(errorEvent(0))],
    streamed: true,
    client: saved,
    asked: each,
    logged: byFallback,
  },
  {
    name: 'a malformed event is left out',
    primary: [said(malformedEvent(3))],
    streamed: true,
    client: fine,
    asked: once,
    logged: byPrimary,
  },
  {
    name: 'a complete answer without [DONE] gets one',
    primary: [answer({ text: PRIMARY_TEXT, done: false })],
    streamed: true,
    client: fine,
    asked: once,
    logged: byPrimary,
    within: 10_000,
  },
  {
    name: 'too long a context is told, not retried',
    primary: [contextWindowExceeded()],
    settings: { num_retries: 3 },
    client: { status: 400, code: 'context_length_exceeded' },
    asked: once,
    logged: { ending: 'failed', by: 'primary', attempts: 1, usage: 'none' },
  },
  {
    name: 'a content filter is told, not retried',
    primary: [contentFiltered()],
    settings: { num_retries: 3 },
    client: { status: 400, code: 'content_policy_violation' },
    asked: once,
    logged: { ending: 'failed', by: 'primary', attempts: 1, usage: 'none' },
  },
  {
    name: 'a flapping primary is taken out only after the failures it is allowed',
    primary: [serverError(), said(), serverError(), said(), serverError()],
    settings: { allowed_fails: 1, cooldown_time: 30 },
    calls: 8,
    client: saved,
    asked: { primary: 6, fallback: 6 },
    logged: { ...byFallback, attempts: 1 },
  },
  {
    name: 'a failover is billed once, by what served',
    primary: [serverError()],
    settings: retrying,
    streamed: true,
    client: saved,
    asked: { primary: 2, fallback: 1 },
    logged: { ...byFallback, attempts: 3 },
  },
]
