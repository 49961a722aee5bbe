import * as z from 'zod'
import { hasPermission } from '../../identity/grants.ts'
import { personalTargets } from '../../identity/personal-targets.ts'
import { lazily } from '../../lib/lazily.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Registry } from '../../routing/registry.ts'
import { type ConfigNote, unknownNames } from '../../routing/unknown-names.ts'
import { CAPACITY_UNITS, type DeploymentSignals, shareUsed } from '../../stores/kv/deployment-signals.ts'
import type { SinkState } from '../../telemetry/sinks/sink.ts'
import { json } from '../respond.ts'
import { defineRoute } from '../route.ts'
import type { ApiServices } from '../scope.ts'

/** The report does not wait longer for the database. */
const COUNT_MS = 1000

const time = () => z.iso.datetime().nullable()

export const deploymentHealth = lazily(() =>
  z.object({
    deployment_id: z.string(),
    model_name: z.string(),
    provider: z.string(),
    state: z
      .enum(['healthy', 'cooling', 'probing', 'drained'])
      .describe('drained: it gets no new calls until an administrator resumes it.'),
    cooldown_until: time(),
    active_requests: z.int(),
    consecutive_failures: z.int(),
    avg_latency_ms: z.number().nullable(),
    first_token_ms: z.number().nullable(),
    last_error: z.string().nullable(),
    last_error_at: time(),
    last_success_at: time(),
    utilization: z.number().describe('Used share of the tightest per-minute limit.'),
  }),
)

const report = lazily(() =>
  z.object({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    healthy_count: z.int(),
    total_count: z.int(),
    deployments: z.array(deploymentHealth()),
    store: z.object({
      mode: z.enum(['shared', 'local', 'degraded']),
      degraded_mode: z.enum(['fail_open', 'fail_closed']),
    }),
    notes: z
      .array(
        z.object({ path: z.string(), message: z.string().describe('Continues the sentence that the path begins.') }),
      )
      .describe('What of the configuration is worth a look; empty without the permission config.read.'),
    failing_sinks: z
      .array(z.object({ name: z.string(), last_error: z.string(), last_error_at: z.iso.datetime(), queued: z.int() }))
      .describe(
        'Sinks that the process which answers could not deliver to last; empty without the permission config.read.',
      ),
    dead_letters: z
      .int()
      .nullable()
      .describe(
        'Records that the database refused; null without the permission config.read, or if it does not answer.',
      ),
  }),
)

export const deploymentsHealth = defineRoute(
  {
    method: 'get',
    path: '/health/deployments',
    summary: 'The health of each deployment that the caller may use.',
    tag: 'Health',
    auth: 'caller',
    takesSession: true,
    query: () => z.object({ model: z.string().optional().describe('Only the deployments of this model.') }),
    responses: { 200: { description: 'The report.', schema: report } },
  },
  async ({ services, caller, input }) => {
    const { callable_target_default: targetDefault } = services.config.general_settings
    const mayCall = await personalTargets(caller(), services.records.callableScopes, targetDefault)
    const deployments = deploymentsFor(mayCall, services.registry, input.query.model)
    const mayReadConfig = hasPermission(caller(), 'config.read')
    const [signals, deadLetters] = await Promise.all([
      services.store.signals(deployments.map(({ id }) => id)),
      mayReadConfig ? deadLettersOf(services) : null,
    ])
    const now = services.clock.now()
    const healths = deployments.map((deployment, index) =>
      healthOf(deployment, signals[index] as DeploymentSignals, now),
    )
    const healthy = healths.filter(({ state }) => state === 'healthy').length
    const drained = healths.filter(({ state }) => state === 'drained').length
    const status =
      healthy + drained === healths.length && (healthy > 0 || drained === 0)
        ? 'ok'
        : healthy === 0
          ? 'unavailable'
          : 'degraded'
    return json({
      status,
      healthy_count: healthy,
      total_count: healths.length,
      deployments: healths,
      store: { mode: services.store.mode(), degraded_mode: services.config.general_settings.degraded_mode },
      notes: mayReadConfig ? notesOf(services) : [],
      failing_sinks: mayReadConfig ? services.sinks.states().flatMap(failing) : [],
      dead_letters: deadLetters,
    } satisfies z.output<ReturnType<typeof report>>)
  },
)

function notesOf({ config, registry, live }: ApiServices): ConfigNote[] {
  return unknownNames(config, {
    group: (name) => registry.resolve(name) !== undefined,
    credential: (name) => live.credentials().has(name),
  })
}

function failing({ name, queued, lastSuccessAt = '', lastErrorAt, lastError }: SinkState) {
  if (lastErrorAt === undefined || lastError === undefined || lastErrorAt <= lastSuccessAt) return []
  return [{ name, last_error: lastError, last_error_at: lastErrorAt, queued }]
}

async function deadLettersOf({ records }: ApiServices): Promise<number | null> {
  const counted = await atMost(
    COUNT_MS,
    records.deadLetters.count().catch(() => null),
  )
  return counted?.value ?? null
}

/** The deployments of the groups that the caller may call. A group that it may not call looks absent. */
function deploymentsFor(
  mayCall: Caller['mayCall'],
  { names, groups, resolve }: Registry,
  model?: string,
): Deployment[] {
  const requested = model === undefined ? [...groups, ...names.map(resolve)] : [resolve(model)]
  const allowed = requested.flatMap((group) => (group && mayCall(group) ? group.deployments : []))
  return [...new Map(allowed.map((deployment) => [deployment.id, deployment])).values()]
}

export function healthOf(
  deployment: Deployment,
  signals: DeploymentSignals,
  now: number,
): z.output<ReturnType<typeof deploymentHealth>> {
  const cooling = signals.cooledUntil > now
  return {
    deployment_id: deployment.id,
    model_name: deployment.modelName,
    provider: deployment.provider.kind,
    state: deployment.drained ? 'drained' : signals.probing ? 'probing' : cooling ? 'cooling' : 'healthy',
    cooldown_until: cooling ? timeOf(signals.cooledUntil) : null,
    active_requests: signals.active,
    consecutive_failures: signals.failures,
    avg_latency_ms: signals.samples === 0 ? null : signals.latencyMs,
    first_token_ms: signals.samples === 0 ? null : signals.firstTokenMs,
    last_error: signals.lastError || null,
    last_error_at: timeOf(signals.lastErrorAt),
    last_success_at: timeOf(signals.lastSuccessAt),
    utilization: shareOf(deployment, signals),
  }
}

/** The used share of the tightest limit. A limit of zero counts as used up: JSON has no infinity. */
function shareOf(deployment: Deployment, signals: DeploymentSignals): number {
  const share = Math.max(...CAPACITY_UNITS.map((unit) => shareUsed(signals.used, deployment.limits, unit)))
  return Number.isFinite(share) ? share : 1
}

function timeOf(milliseconds: number): string | null {
  return milliseconds === 0 ? null : new Date(milliseconds).toISOString()
}
