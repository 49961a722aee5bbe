import { GatewayError } from '../../../lib/errors.ts'
import type { ApiServices } from '../../scope.ts'
import { isStorable } from '../storable.ts'

/** Refuses a name that no group goes by: neither a route group, though it may be disabled, nor a model. */
export async function requireGroup(services: ApiServices, name: string): Promise<void> {
  if (await isGroup(services, name)) return
  const meant = services.registry.resolve(name)?.name
  const message = meant
    ? 'This is an alias. Ask for the group that it stands for.'
    : 'There is no route group and no model of this name.'
  throw new GatewayError('not_found', message, { param: 'name' })
}

/** Whether a group goes by this name: a route group, though it may be disabled, or a model. */
export async function isGroup(services: ApiServices, name: string): Promise<boolean> {
  if (!isStorable(name)) return false
  if (services.registry.resolve(name)?.name === name) return true
  if (await services.records.routeGroups.find(name)) return true
  // A model may have been added elsewhere a moment ago.
  await services.live.refresh()
  return services.registry.resolve(name)?.name === name
}
