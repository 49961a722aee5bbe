import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Loaded } from '../../design/states.tsx'
import { AccessRule } from '../place/access-rule.tsx'
import { type Key, nameOf } from './key.ts'

/** The models that a key may call: its own rule, and the result under those of its team and organization. */
export function KeyAccess({ of: key, mayChange }: { readonly of: Key; readonly mayChange: boolean }) {
  const { key_id } = key
  const read = useApi('GET /ui/api/keys/{key_id}/model-access', { params: { key_id } })
  const replaced = useChange('PUT /ui/api/keys/{key_id}/model-access', {
    refreshes: ['/ui/api/keys', '/ui/api/callable'],
  })
  return (
    <Loaded of={read}>
      {(access) => (
        <AccessRule
          of={access}
          name={nameOf(key)}
          title="Of the key itself"
          inherits="everything that its team may call"
          reason="The key, its team or its organization leaves no model."
          facts={[['Addresses', key.allowed_ips?.join(', ') ?? <span class="quiet">any</span>]]}
          href={(model) => pathTo('models', { key_id, open: model })}
          onRead={() => api('GET /ui/api/keys/{key_id}/model-access', { params: { key_id } })}
          onReplace={mayChange ? (body) => replaced.mutateAsync({ params: { key_id }, body }) : undefined}
        />
      )}
    </Loaded>
  )
}
