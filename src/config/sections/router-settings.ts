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
        'Seconds before the first retry, doubling from there; 0 goes to another deployment at once, and to the same one again after 0.5.',
      ),
    timeout: positiveSeconds()
      .default(600)
      .describe(
        'Seconds that an attempt may take until its answer is there, or a stream has begun; then it has failed, and the next deployment or fallback is asked.',
      ),
    total_timeout: positiveSeconds()
      .default(600)
      .describe('Seconds that a call may take in all: its attempts, the waits between them, the whole of a stream.'),
    stream_first_token_timeout: positiveSeconds()
      .default(60)
      .describe('Seconds until a stream must show its first token.'),
    stream_idle_timeout: positiveSeconds().default(60).describe('Seconds that a stream may be silent between chunks.'),
    stream_keep_alive: positiveSeconds()
      .default(15)
      .describe(
        'Seconds of silence after which the client of a stream is sent a comment, so that its connection stays.',
      ),
    hedge_after_ms: positiveMilliseconds()
      .optional()
      .describe(
        'Milliseconds without a first token after which a second deployment is asked as well; off when left out.',
      ),
    hedge: z
      .enum(['p95'])
      .optional()
      .describe("With p95 the wait is the time in which 95 % of the group's recent calls began to be answered."),
    cooldown_time: seconds()
      .default(60)
      .describe(
        'Seconds that a failing deployment stays out of rotation, or as long as it asks, where that is longer; 0 is off.',
      ),
    allowed_fails: count().default(0).describe('Failures in a row that are allowed before a deployment is cooled.'),
    enable_pre_call_checks: flag()
      .default(false)
      .describe('Whether deployments at their per-minute limits are left out of routing.'),
    model_group_alias: z
      .record(text(), text())
      .default({})
      .describe('Further names that clients may use, each for one model group.'),
  })

export type RouterSettings = z.output<ReturnType<typeof routerSettings>>
