import { lazily } from '../../../lib/lazily.ts'
import { routeGroup } from '../../../routing/route-group.ts'
import { refuseAlias } from '../registry-records.ts'
import { keyedRoutes } from './keyed-routes.ts'

/** Names that clients call like a model. */
export const routeGroups = keyedRoutes({
  path: '/ui/api/route-groups',
  noun: 'route group',
  tag: 'Configuration',
  table: 'gateway_route_group',
  id: 'name',
  permissions: { read: 'config.read', create: 'config.update', update: 'config.update', remove: 'config.update' },
  named: () => routeGroup().shape.name,
  fields: lazily(() => {
    const { enabled, members } = routeGroup().shape
    return { enabled, members }
  }),
  searched: ['name'],
  secrets: undefined,
  check: (services, name) => refuseAlias(services, 'name', name),
  summaries: {
    create: 'Adds a name that clients can call like a model.',
    remove: 'Removes a route group; a model of the same name is back.',
  },
})
