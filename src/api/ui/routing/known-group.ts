import { GatewayError } from '../../../lib/errors.ts'
import type { ApiServices } from '../../scope.ts'
import { isStorable } from '../../storable.ts'
import { findFresh } from '../registry-records.ts'

/** Refuses a name that no group has. */
export async function requireGroup(services: ApiServices, name: string): Promise<void> {
  if (await isGroup(services, name)) return
  const meant = services.registry.resolve(name)?.name
  const message = meant
    ? 'This is an alias. Ask for the group that it stands for.'
    : 'There is no route group and no model of this name.'
  throw new GatewayError('not_found', message, { param: 'name' })
}

/** Whether a route group, a disabled one included, or a model has this name. */
export async function isGroup(services: ApiServices, name: string): Promise<boolean> {
  if (!isStorable(name)) return false
  const isRegistered = () => services.registry.resolve(name)?.name === name || undefined
  if (isRegistered() || (await services.records.routeGroups.find(name))) return true
  return (await findFresh(services, isRegistered)) === true
}
