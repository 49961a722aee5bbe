import * as z from 'zod'
import { name } from '../config/sections/model-list.ts'
import { lazily } from '../lib/lazily.ts'
import { accessGroupsOfRouteGroup } from './access-groups.ts'
import type { Deployment, Group } from './deployment.ts'

const member = lazily(() =>
  z
    .strictObject({
      deployment_id: z.string().min(1).max(1024).optional().describe('One deployment.'),
      model_name: z.string().min(1).max(256).optional().describe('All deployments of a model.'),
      weight: z.number().min(0).optional().describe('Instead of that of model_info.'),
      priority: z.int().min(0).optional().describe('Instead of that of model_info.'),
      enabled: z.boolean().default(true),
    })
    .superRefine(({ deployment_id, model_name }, context) => {
      if ((deployment_id === undefined) !== (model_name === undefined)) return
      context.addIssue({
        code: 'custom',
        path: ['deployment_id'],
        message: 'or model_name is required, and only one of them',
      })
    }),
)

/** A group under a public name with members of the operator's choice, which clients call like a model. */
export const routeGroup = lazily(() =>
  z.strictObject({
    name: name().describe('What clients send as `model`; hides a model of the same name.'),
    enabled: z.boolean().default(true).describe('A group that is not enabled is absent.'),
    members: z.array(member()).min(1).max(500),
  }),
)

export type RouteGroup = z.output<ReturnType<typeof routeGroup>>

/** The group with its existing members; undefined if it is disabled or has none. A member by deployment id takes
 *  precedence over one by model name. */
export function groupOf(
  { name, enabled, members }: RouteGroup,
  deployments: readonly Deployment[],
  models: ReadonlyMap<string, Group>,
): Group | undefined {
  if (!enabled) return undefined
  const chosen = deployments.flatMap((deployment) => {
    const found =
      members.find(({ deployment_id }) => deployment_id === deployment.id) ??
      members.find(({ model_name }) => model_name === deployment.modelName)
    if (!found?.enabled) return []
    const { weight = deployment.info.weight, priority = deployment.info.priority } = found
    return [{ ...deployment, info: { ...deployment.info, weight, priority } }]
  })
  if (chosen.length === 0) return undefined
  return { name, accessGroups: accessGroupsOfRouteGroup(chosen, models), deployments: chosen }
}
