import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { check, release } from '../../../pipeline/health/health-checks.ts'
import type { Deployment } from '../../../routing/deployment.ts'
import type { DeploymentSignals } from '../../../stores/kv/deployment-signals.ts'
import { deploymentHealth, healthOf } from '../../health/deployments.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { findFresh, reload } from '../registry-records.ts'

/** How long a check waits for an answer. */
const CHECK_MS = 30_000

const checked = lazily(() =>
  deploymentHealth().extend({
    check: z.object({
      result: z
        .enum(['healthy', 'failed', 'inconclusive'])
        .describe('inconclusive: there is no request that would show it, or no answer within 30 s.'),
      error: z.object({ code: z.string().nullable(), message: z.string() }).nullable(),
      total_ms: z.number(),
    }),
  }),
)

const common = (name: 'check' | 'release' | 'drain' | 'resume') =>
  ({
    method: 'post',
    path: `/ui/api/models/{deployment_id}/${name}`,
    action: `model.${name}`,
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    params: () => z.object({ deployment_id: z.string() }),
  }) as const
const health = { 200: { description: 'Its health now.', schema: deploymentHealth } } as const

const checkNow = defineRoute(
  {
    ...common('check'),
    summary: 'Asks a deployment for a minimal answer now. The result cools it or ends its cooldown.',
    responses: { 200: { description: 'Its health now, and what came.', schema: checked } },
  },
  async ({ services, input }) => {
    const deployment = await find(services, input.params.deployment_id)
    const begun = performance.now()
    const result = await check(services, deployment, false, AbortSignal.timeout(CHECK_MS))
    const total_ms = Math.round(performance.now() - begun)
    const failure = result instanceof GatewayError ? result : undefined
    return json({
      ...(await healthNow(services, deployment)),
      check: {
        result: failure ? 'failed' : result,
        error: failure ? { code: failure.code ?? failure.failure, message: failure.message } : null,
        total_ms,
      },
    })
  },
)

const releaseNow = defineRoute(
  {
    ...common('release'),
    summary: 'Ends the cooldown of a deployment, in every process at once.',
    responses: health,
  },
  async ({ services, input }) => {
    const deployment = await find(services, input.params.deployment_id)
    await release(services, deployment)
    return json(await healthNow(services, deployment))
  },
)

const drain = defineRoute(
  {
    ...common('drain'),
    summary:
      'Gives a deployment no new calls until it is resumed, over restarts too; calls that run go on. In every process within 5 s.',
    responses: health,
  },
  async (scope) => setDrained(scope.services, scope.input.params.deployment_id, 'drain'),
)

const resume = defineRoute(
  {
    ...common('resume'),
    summary: 'Gives a drained deployment calls again, from every process within 5 s.',
    responses: health,
  },
  async (scope) => setDrained(scope.services, scope.input.params.deployment_id, 'resume'),
)

export const modelActions: readonly Route[] = [checkNow, releaseNow, drain, resume]

async function setDrained(services: ApiServices, id: string, how: 'drain' | 'resume') {
  const deployment = await find(services, id)
  await services.records.drained[how](deployment.id)
  await reload(services)
  return json(await healthNow(services, await find(services, id)))
}

async function find(services: ApiServices, id: string): Promise<Deployment> {
  const found = await findFresh(services, () => known(services, id))
  if (found) return found
  throw new GatewayError('not_found', 'There is no such deployment.', { param: 'deployment_id' })
}

function known({ registry }: ApiServices, id: string): Deployment | undefined {
  for (const { deployments } of registry.groups) {
    const found = deployments.find((deployment) => deployment.id === id)
    if (found) return found
  }
  return undefined
}

async function healthNow({ store, clock }: ApiServices, deployment: Deployment) {
  const [signals] = await store.signals([deployment.id])
  return healthOf(deployment, signals as DeploymentSignals, clock.now())
}
