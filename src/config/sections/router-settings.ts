import * as z from 'zod'
import { count, flag, positiveMilliseconds, positiveSeconds, seconds, section, text } from '../fields.ts'
import type { Registered } from '../registered.ts'

/** How a deployment is picked, and what happens when it fails. */
export const routerSettings = (strategies: Registered) =>
  section({
    routing_strategy: z
      .enum([...strategies.keys()])
      .default('simple-shuffle')
      .describe('How one deployment of a group is picked.'),
    num_retries: count().max(100).default(0).describe('Extra attempts in a group after the first failure.'),
    retry_after: seconds()
      .default(0)
      .describe(
        'The most seconds before the first retry, doubled for each further one up to 30; each wait is a random part of that. 0 asks another deployment at once, and the same one as 0.5 does.',
      ),
    timeout: positiveSeconds()
      .default(600)
      .describe(
        'Seconds until an attempt must have answered, or its stream begun; then the next deployment or fallback is asked.',
      ),
    total_timeout: positiveSeconds()
      .default(600)
      .describe('Seconds that a call may take in total: attempts, waits between them, the whole stream.'),
    stream_first_token_timeout: positiveSeconds()
      .default(60)
      .describe('Seconds until a stream must show its first token.'),
    stream_idle_timeout: positiveSeconds().default(60).describe('Seconds that a stream may be silent between chunks.'),
    stream_keep_alive: positiveSeconds()
      .default(15)
      .describe('Seconds of silence after which a stream gets a comment that keeps its connection open.'),
    hedge_after_ms: positiveMilliseconds()
      .optional()
      .describe('Milliseconds without a first token after which a second deployment is asked as well; default: off.'),
    hedge: z
      .enum(['p95'])
      .optional()
      .describe("With p95 the wait is the time in which 95 % of the group's recent calls began to be answered."),
    cooldown_time: seconds()
      .default(60)
      .describe('Seconds that a failing deployment is out of rotation, or longer if it asks for it; 0: off.'),
    allowed_fails: count().default(0).describe('Failures in a row that are allowed before a deployment is cooled.'),
    enable_pre_call_checks: flag()
      .default(false)
      .describe('Whether deployments at their per-minute limits are excluded from routing.'),
    model_group_alias: z
      .record(text(), text())
      .default({})
      .describe('Further names that clients may use, each for one model group.'),
  })

export type RouterSettings = z.output<ReturnType<typeof routerSettings>>
