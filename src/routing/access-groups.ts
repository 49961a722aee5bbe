import type { Deployment, Group } from './deployment.ts'

/** The labels of a model: those of all its deployments, since they are one model to callers. Adding a deployment without
 *  labels therefore takes the model from no caller. */
export function accessGroupsOfModel(deployments: readonly Deployment[]): string[] {
  return [...new Set(deployments.flatMap(({ info }) => info.access_groups))].sort()
}

/** The labels of a route group: those that all its models have, so that a label does not give access to a model without it. */
export function accessGroupsOfRouteGroup(members: readonly Deployment[], models: ReadonlyMap<string, Group>): string[] {
  const [first = [], ...others] = [...new Set(members.map(({ modelName }) => modelName))].map(
    (name) => models.get(name)?.accessGroups ?? [],
  )
  return first.filter((label) => others.every((labels) => labels.includes(label)))
}
