import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { MODEL_MODES, type ModelMode } from '../../../config/sections/model-list.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Endpoint } from '../../../pipeline/endpoint.ts'
import { simulate } from '../../../pipeline/plan/simulate.ts'
import { translatorOf } from '../../../pipeline/translate/translator.ts'
import type { Group } from '../../../routing/deployment.ts'
import { groupSettings } from '../../../routing/group-settings.ts'
import { routeGroupPolicy, settingsOf } from '../../../routing/route-group-policy.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { MODEL_ENDPOINTS } from '../../v1/model-endpoints.ts'
import { findFresh } from '../registry-records.ts'

const asked = lazily(() =>
  z.strictObject({
    mode: z.enum(MODEL_MODES).optional().describe('The kind of request; default: the first that the group serves.'),
    tags: z.array(z.string().min(1)).max(100).optional().describe('As in `metadata.tags` of a call.'),
    calls: z.int().min(1).max(10_000).default(1000),
    strategy: routeGroupPolicy().shape.routing_strategy.describe('Simulated instead of the published one.'),
    policy: routeGroupPolicy().optional().describe('Simulated instead of the published one.'),
  }),
)

const answer = lazily(() =>
  z.object({
    mode: z.enum(MODEL_MODES),
    strategy: z.string(),
    calls: z.int().describe('Fewer than asked for in very large groups.'),
    unserved: z.int().describe('Calls that no deployment can take now: they fall back, wait or fail.'),
    deployments: z.array(
      z.object({
        deployment_id: z.string(),
        chosen: z.int().describe('The number of calls that would go to it first.'),
        share: z.number(),
        eligible: z.boolean(),
        reason: z.string().describe('Why it is excluded, or the figures that the strategy compares.'),
      }),
    ),
  }),
)

export const simulateRouteGroup = defineRoute(
  {
    method: 'post',
    path: '/ui/api/route-groups/{name}/simulate',
    summary: 'Simulates which deployments calls would go to now, and explains why. No provider is called.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    params: () => z.object({ name: z.string() }),
    json: asked,
    responses: { 200: { description: 'The simulated calls.', schema: answer } },
  },
  async ({ services, input }) => {
    const { mode, tags, calls, strategy, policy } = asked().parse(input.json)
    const group = withSimulatedPolicy(await groupNamed(services, input.params.name), { strategy, policy })
    const endpoint = endpointOf(group, mode)
    const metadata = tags && { metadata: { tags } }
    const request = { ...endpoint.mode.smallest, ...metadata, model: group.name }
    const { deployments, ...drawn } = await simulate(services, { endpoint, request, group, calls })
    return json({
      mode: endpoint.mode.name,
      strategy: groupSettings(services.config.router_settings, group).strategy,
      ...drawn,
      deployments: deployments.map(({ deployment, chosen, eligible, reason }) => ({
        deployment_id: deployment.id,
        chosen,
        share: chosen / drawn.calls,
        eligible,
        reason,
      })),
    } satisfies z.output<ReturnType<typeof answer>>)
  },
)

async function groupNamed(services: ApiServices, name: string): Promise<Group> {
  const group = await findFresh(services, () => services.registry.resolve(name))
  if (group) return group
  throw new GatewayError('not_found', 'No group or model of this name can be called now.', { param: 'name' })
}

function withSimulatedPolicy(
  group: Group,
  trial: Pick<z.output<ReturnType<typeof asked>>, 'strategy' | 'policy'>,
): Group {
  const policy = trial.policy ? settingsOf(trial.policy) : group.policy
  return { ...group, policy: { ...policy, ...(trial.strategy ? { strategy: trial.strategy } : {}) } }
}

function endpointOf(group: Group, wanted: ModelMode | undefined): Endpoint {
  const takes = ({ mode, dialect }: Endpoint) => group.deployments.some((one) => translatorOf(one, mode, dialect))
  const endpoint = MODEL_ENDPOINTS.find((one) => (wanted === undefined ? takes(one) : one.mode.name === wanted))
  if (!endpoint) throw mistake('mode', 'is needed: the group takes no kind of request')
  return endpoint
}
