import * as z from 'zod'
import type { WebhookEvent } from '../../config/sections/callback-settings.ts'
import { lazily } from '../../lib/lazily.ts'
import { ENDINGS } from '../events.ts'

/** The payload of a webhook for an event. */
interface WebhookPayload {
  /** When it is sent. */
  readonly summary: string
  readonly data: z.ZodObject
}

const text = z.string
const count = () => z.int().min(0)
const nano = () => z.number().describe('In nano-dollars.')
const time = () => z.iso.datetime()
const maybe = () => z.string().nullable()

const owner = () => ({ key_id: maybe(), team_id: maybe(), organization_id: maybe(), user_id: maybe() })

const budget = () => ({
  scope: text().describe('The name of its refusal, such as `team_budget`.'),
  level: z.enum(['organization', 'team', 'user', 'key']),
  id: text().describe('Of the organization, team, user or key.'),
  model: maybe().describe('The model whose calls alone it pays for.'),
  subject: text().describe('The name of its account.'),
  period: time().nullable().describe('When the period began; null for a budget that never resets.'),
  spent_nano: nano(),
})

const usage = () =>
  z.looseObject({ input_tokens: count(), output_tokens: count(), estimated: z.boolean() }).describe('What was used.')

const call = () =>
  z.object({
    request_id: text(),
    call_id: text(),
    batch_id: text(),
    prompt: text().describe('`key@version`'),
    repeats: z.boolean(),
    endpoint: text(),
    mode: text(),
    requested_model: text(),
    model: text(),
    deployment: text(),
    provider: text(),
    key_id: text(),
    team_id: text(),
    organization_id: text(),
    user_id: text(),
    tags: z.array(text()),
    trace: z.looseObject({}).optional(),
    streamed: z.boolean(),
    ending: z.enum(ENDINGS),
    status: z.int(),
    error_type: text(),
    usage: usage().optional(),
    cost_nano: nano().optional().describe('Missing where the price is unknown.'),
    held_nano: nano().optional().describe('The most that a budget held for it until it was settled.'),
    saved_nano: nano(),
    cache: z.enum(['hit', 'miss', 'off']),
    charges: z.array(
      z.object({
        subject: text(),
        period: text(),
        since: z.iso.datetime({ offset: true }).optional().describe('When a period without end began.'),
        cost_nano: nano().optional(),
      }),
    ),
    attempts: count(),
    tried: z.array(z.looseObject({ deployment: text(), provider: text(), result: text(), error: text() })),
    tools: z.array(z.looseObject({ server: text(), tool: text(), result: text(), ms: z.number() })),
    rescued_from: z.array(text()),
    malformed_events: count(),
    overhead_ms: z.number(),
    first_token_ms: z.number().optional(),
    upstream_ms: z.number().optional(),
    total_ms: z.number(),
  })

/** The payloads, by the public names of events. Texts that are '' become null. */
export const webhookPayloads = lazily(
  (): Readonly<Record<WebhookEvent, WebhookPayload>> => ({
    'call.finished': {
      summary: "A call has ended, however it did; not tries of a batch's item that is tried again.",
      data: call(),
    },
    'budget.soft_limit': {
      summary: 'A budget passed its soft limit. Once a period, and once more for another limit.',
      data: z.object({ ...budget(), soft_nano: nano() }),
    },
    'budget.exceeded': {
      summary: 'A budget refused a call for which it has no room. Once a period, and once more for another limit.',
      data: z.object({ ...budget(), limit_nano: nano() }),
    },
    'deployment.cooled': {
      summary: 'A deployment left the rotation after failures. Once for each cooldown.',
      data: z.object({
        deployment: text(),
        model: maybe(),
        provider: maybe(),
        error: maybe().describe('The kind of the last failure.'),
        failures: count().describe('Since its last success.'),
        until: time().describe('When it is probed again.'),
      }),
    },
    'batch.finished': {
      summary: 'A batch has ended, and its files are there.',
      data: z.object({
        batch_id: text(),
        status: z.enum(['completed', 'failed', 'expired', 'cancelled']),
        endpoint: text(),
        ...owner(),
        requests: count(),
        completed: count(),
        failed: count(),
        cost_nano: nano(),
        created_at: time(),
      }),
    },
    'key.expiring': {
      summary: 'A key ends in so many days (`key_expiring_days`). Once for each key, end and number of days.',
      data: z.object({ ...owner(), key_name: maybe(), expires_at: time(), days: count() }),
    },
  }),
)
