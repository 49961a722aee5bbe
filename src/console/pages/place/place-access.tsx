import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { Loaded } from '../../design/states.tsx'
import { AccessRule } from './access-rule.tsx'
import { mayManage } from './member-role.tsx'
import { type PlaceOf, routesOf } from './place.ts'

/** The models that an organization or a team may call: its own rule, and the result under that of its organization. */
export function PlaceAccess({ of: place }: { readonly of: PlaceOf }) {
  const session = useSession()
  const { access: route, putAccess, params } = routesOf(place)
  const read = useApi(route, { params })
  const replaced = useChange(putAccess, { refreshes: ['/ui/api/teams', '/ui/api/organizations', '/ui/api/callable'] })
  return (
    <Loaded of={read}>
      {(access) => (
        <AccessRule
          of={access}
          name={place.name ?? place.id}
          title={`Rule of the ${place.scope}`}
          inherits={
            place.scope === 'team' ? 'everything that its organization may call' : 'everything that the gateway serves'
          }
          reason={`The ${place.scope}, or what is above it, leaves no model.`}
          onRead={() => api(route, { params })}
          onReplace={mayManage(session, place) ? (body) => replaced.mutateAsync({ params, body }) : undefined}
        />
      )}
    </Loaded>
  )
}
