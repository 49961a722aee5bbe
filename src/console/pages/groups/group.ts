import type { Answer, Input, Row } from '../../data/client.ts'

export type Group = Row<'GET /ui/api/route-groups'>
export type Member = Group['members'][number]
export type PolicyState = Answer<'GET /ui/api/route-groups/{name}/policy'>
export type Policy = NonNullable<Input<'PUT /ui/api/route-groups/{name}/policy/draft'>['body']>
export type Strategy = NonNullable<Policy['routing_strategy']>
export type Simulation = Answer<'POST /ui/api/route-groups/{name}/simulate'>

/** What is typed of a policy. null: as router_settings say. */
export interface PolicyDraft {
  readonly [name: string]: unknown
  readonly routing_strategy: Strategy | null
  readonly timeout: number | null
  readonly total_timeout: number | null
  readonly num_retries: number | null
  readonly retry_after: number | null
  readonly hedging: 'off' | 'p95' | 'after' | null
  readonly hedge_after_ms: number | null
  readonly prompt_ref: string | null
}

export function draftOf(policy: Policy): PolicyDraft {
  const { hedge, hedge_after_ms: after } = policy
  return {
    routing_strategy: policy.routing_strategy ?? null,
    timeout: policy.timeout ?? null,
    total_timeout: policy.total_timeout ?? null,
    num_retries: policy.num_retries ?? null,
    retry_after: policy.retry_after ?? null,
    hedging:
      hedge === 'p95' ? 'p95' : typeof after === 'number' ? 'after' : hedge === null || after === null ? 'off' : null,
    hedge_after_ms: after ?? null,
    prompt_ref: policy.prompt_ref ?? null,
  }
}

export function policyOf({ hedging, hedge_after_ms: after, prompt_ref, ...others }: PolicyDraft): Policy {
  const own = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null))
  const hedge = {
    off: { hedge: null, hedge_after_ms: null },
    p95: { hedge: 'p95' },
    after: { hedge_after_ms: after ?? 0 },
  }
  return { ...own, ...(hedging && hedge[hedging]), ...(prompt_ref && { prompt_ref }) } as Policy
}

export const SETTINGS = [
  ['routing_strategy', 'Strategy', ''],
  ['timeout', 'Timeout of an attempt', ' s'],
  ['total_timeout', 'Timeout of the call', ' s'],
  ['num_retries', 'Retries', ''],
  ['retry_after', 'Wait before the first retry', ' s'],
  ['hedge', 'Hedge at', ''],
  ['hedge_after_ms', 'Hedge after', ' ms'],
  ['prompt_ref', 'Prompt', ''],
] as const

/** A setting in words; undefined: it is inherited. */
export const settingWords = (value: unknown, unit: string): string | undefined =>
  value === undefined ? undefined : value === null ? 'off' : `${value}${unit}`
