import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import type { FallbackEvent } from '../../telemetry/events.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

/** As many as are kept. */
const MOST = 1000

const fallbackEvent = lazily(() =>
  z.object({
    timestamp: z.iso.datetime(),
    source_model: z.string(),
    target_model: z.string(),
    error_classification: z.string(),
    success: z.boolean(),
  }),
)

export const fallbackEvents = defineRoute(
  {
    method: 'get',
    path: '/health/fallback-events',
    summary: 'The newest calls of models that the caller may use that were retried or failed over, newest first.',
    tag: 'Health',
    auth: 'caller',
    query: () =>
      z.object({
        limit: z.coerce.number().int().min(1).max(MOST).default(50).describe('How many, at most 1,000.'),
      }),
    responses: { 200: { description: 'The events.', schema: () => z.object({ events: z.array(fallbackEvent()) }) } },
  },
  async ({ services: { registry, store }, caller, input: { query } }) => {
    const { mayCall } = caller()
    const entries = await store.entries('fallback-events', MOST)
    const events = entries
      .map((entry) => JSON.parse(entry) as FallbackEvent)
      .filter(({ source_model: name }) => mayCall(registry.resolve(name) ?? { name, accessGroups: [] }))
    return json({ events: events.slice(0, query.limit) })
  },
)
