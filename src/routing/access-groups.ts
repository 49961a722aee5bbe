import type { Deployment, Group } from './deployment.ts'

/** The labels of a model. To its callers the deployments of one name are one model, so a label of any is a label of it,
 *  and a deployment that is added without one takes it from nobody. */
export function accessGroupsOfModel(deployments: readonly Deployment[]): string[] {
  return [...new Set(deployments.flatMap(({ info }) => info.access_groups))].sort()
}

/** The labels of a route group: those that all its models have, so that a label opens no model that is without it. */
export function accessGroupsOfRouteGroup(members: readonly Deployment[], models: ReadonlyMap<string, Group>): string[] {
  const [first = [], ...others] = [...new Set(members.map(({ modelName }) => modelName))].map(
    (name) => models.get(name)?.accessGroups ?? [],
  )
  return first.filter((label) => others.every((labels) => labels.includes(label)))
}
