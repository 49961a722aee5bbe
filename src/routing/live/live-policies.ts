import type { Log } from '../../lib/log.ts'
import type { RouteGroupPolicyRecords } from '../../stores/sql/records/route-group-policy-records.ts'
import type { GroupSettings } from '../group-settings.ts'
import { routeGroupPolicy, settingsOf } from '../route-group-policy.ts'
import type { LivePart } from './live-part.ts'

export type Policies = ReadonlyMap<string, Partial<GroupSettings>>

/** The published settings of groups by the name of their group, which the database alone has. */
export function livePolicies(records: Pick<RouteGroupPolicyRecords, 'published'>, log: Log): LivePart<Policies> {
  return {
    ofFile: new Map(),
    async read() {
      const settings = (await records.published()).flatMap(({ group_name: group, published }) => {
        const result = routeGroupPolicy().safeParse(published)
        if (!result.success) log.error('registry.record_left_out', { policyOf: group })
        return result.success ? [[group, settingsOf(result.data)] as const] : []
      })
      return new Map(settings)
    },
  }
}
