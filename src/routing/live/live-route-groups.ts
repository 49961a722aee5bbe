import type { Log } from '../../lib/log.ts'
import type { RouteGroupRecords } from '../../stores/sql/records/route-group-records.ts'
import { type RouteGroup, routeGroup } from '../route-group.ts'
import type { LivePart } from './live-part.ts'

/** The route groups, which the database alone has. */
export function liveRouteGroups(records: Pick<RouteGroupRecords, 'all'>, log: Log): LivePart<readonly RouteGroup[]> {
  return {
    ofFile: [],
    async read() {
      return (await records.all()).flatMap(({ name, enabled, members }) => {
        const result = routeGroup().safeParse({ name, enabled, members })
        if (!result.success) log.error('registry.record_left_out', { routeGroup: name })
        return result.success ? [result.data] : []
      })
    },
  }
}
