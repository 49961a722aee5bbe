import * as z from 'zod'
import { personalTargets } from '../../identity/personal-targets.ts'
import { lazily } from '../../lib/lazily.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { Registry } from '../../routing/registry.ts'
import { LIFETIME_MS } from '../../stores/kv/keys.ts'
import { FALLBACK_LOG, type FallbackEvent } from '../../telemetry/fallback-events.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'

const fallbackEvent = lazily(() =>
  z.object({
    timestamp: z.iso.datetime(),
    source_model: z.string(),
    target_model: z.string(),
    error_classification: z.string(),
    success: z.boolean(),
    call_id: z.string().nullable().describe('The call in the ledger; null in events of builds before it was recorded.'),
  }),
)

export const fallbackEvents = defineRoute(
  {
    method: 'get',
    path: '/health/fallback-events',
    summary: 'Retries and failovers of calls to models that the caller may use, newest first.',
    tag: 'Health',
    auth: 'caller',
    takesSession: true,
    query: () =>
      z.object({
        limit: z.coerce.number().int().min(1).max(FALLBACK_LOG.keep).default(50).describe('At most 1,000.'),
      }),
    responses: { 200: { description: 'The events.', schema: () => z.object({ events: z.array(fallbackEvent()) }) } },
  },
  async ({ services: { registry, store, clock, records, config }, caller, input: { query } }) => {
    const { callable_target_default: targetDefault } = config.general_settings
    const mayCall = await personalTargets(caller(), records.callableScopes, targetDefault)
    const maySee = visibleModels(mayCall, registry)
    const entries = await store.entries(FALLBACK_LOG.log, FALLBACK_LOG.keep)
    // The list expires as a whole, a week after its newest entry.
    const since = clock.now() - LIFETIME_MS.log
    const events = entries
      .map((entry) => JSON.parse(entry) as FallbackEvent)
      .filter(({ source_model, timestamp }) => maySee(source_model) && Date.parse(timestamp) > since)
    return json({ events: events.slice(0, query.limit).map((event) => ({ ...event, call_id: event.call_id ?? null })) })
  },
)

/** The models whose events a caller sees: those that it may call by name or through a route group. */
function visibleModels(mayCall: Caller['mayCall'], { names, resolve }: Registry): (model: string) => boolean {
  const deployments = names.map(resolve).flatMap((group) => (group && mayCall(group) ? group.deployments : []))
  const members = new Set(deployments.map(({ modelName }) => modelName))
  return (name) => members.has(name) || mayCall(resolve(name) ?? { name, accessGroups: [] })
}
