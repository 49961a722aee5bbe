import * as z from 'zod'
import { section } from '../config/fields.ts'
import { lazily } from '../lib/lazily.ts'
import { routerSettings } from './configuration.ts'
import { type GroupSettings, hedgeOf } from './group-settings.ts'
import { PROMPT_REF } from './prompts/prompt-ref.ts'

/** The settings of one group, with the keys of `router_settings`, which apply where a key is left out. null for both
 *  keys of hedging disables it. */
export const routeGroupPolicy = lazily(() => {
  const { routing_strategy, num_retries, retry_after, timeout, total_timeout, hedge_after_ms, hedge } =
    routerSettings().shape
  return section({
    routing_strategy: routing_strategy.unwrap().optional().describe(String(routing_strategy.description)),
    timeout: timeout.unwrap().optional().describe(String(timeout.description)),
    total_timeout: total_timeout.unwrap().optional().describe(String(total_timeout.description)),
    num_retries: num_retries.unwrap().optional().describe(String(num_retries.description)),
    retry_after: retry_after.unwrap().optional().describe(String(retry_after.description)),
    hedge_after_ms: hedge_after_ms.unwrap().nullable().optional().describe(String(hedge_after_ms.description)),
    hedge: hedge.unwrap().nullable().optional().describe(String(hedge.description)),
    prompt_ref: z
      .string()
      .regex(PROMPT_REF, { error: 'must be `key`, `key@3` or `key:label`' })
      .nullable()
      .optional()
      .describe('The prompt whose messages go before those of each call that names none itself.'),
  })
})

export type RouteGroupPolicy = z.output<ReturnType<typeof routeGroupPolicy>>

/** The settings that a policy contains. */
export function settingsOf(policy: RouteGroupPolicy): Partial<GroupSettings> {
  const { routing_strategy, timeout, total_timeout, num_retries, retry_after, hedge_after_ms, hedge, prompt_ref } =
    policy
  const hasHedge = hedge_after_ms !== undefined || hedge !== undefined
  return {
    ...(routing_strategy === undefined ? {} : { strategy: routing_strategy }),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
    ...(total_timeout === undefined ? {} : { totalTimeoutSeconds: total_timeout }),
    ...(num_retries === undefined ? {} : { numRetries: num_retries }),
    ...(retry_after === undefined ? {} : { retryAfterSeconds: retry_after }),
    ...(prompt_ref == null ? {} : { promptRef: prompt_ref }),
    ...(hasHedge ? { hedge: hedgeOf({ hedge: hedge ?? undefined, hedge_after_ms: hedge_after_ms ?? undefined }) } : {}),
  }
}

/** Settings with the keys of the file. */
export function policyOf({ strategy, timeoutSeconds, totalTimeoutSeconds, numRetries, ...settings }: GroupSettings) {
  const { retryAfterSeconds, hedge, promptRef } = settings
  return {
    routing_strategy: strategy,
    timeout: timeoutSeconds,
    total_timeout: totalTimeoutSeconds,
    num_retries: numRetries,
    retry_after: retryAfterSeconds,
    hedge_after_ms: hedge?.afterMs ?? null,
    hedge: hedge?.p95 ? ('p95' as const) : null,
    prompt_ref: promptRef ?? null,
  } satisfies RouteGroupPolicy
}
