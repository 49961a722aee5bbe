import type { Deployment, Group } from './deployment.ts'

/** The labels of a model: all labels of its deployments, which are one model to callers. Adding a deployment without
 *  labels therefore does not restrict access. */
export function accessGroupsOfModel(deployments: readonly Deployment[]): string[] {
  return [...new Set(deployments.flatMap(({ info }) => info.access_groups))].sort()
}

/** The labels of a route group: those that all its models have, so that a label does not give access to a model without
 *  it. */
export function accessGroupsOfRouteGroup(members: readonly Deployment[], models: ReadonlyMap<string, Group>): string[] {
  const [first = [], ...others] = [...new Set(members.map(({ modelName }) => modelName))].map(
    (name) => models.get(name)?.accessGroups ?? [],
  )
  return first.filter((label) => others.every((labels) => labels.includes(label)))
}
