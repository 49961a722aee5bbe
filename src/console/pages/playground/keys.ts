import { useEffect } from 'preact/hooks'
import { api, type Row } from '../../data/client.ts'
import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay, useSession } from '../../data/session.ts'
import { keep, kept } from '../../data/settings.ts'
import type { Option, Search } from '../../design/form/combobox.tsx'

export type Key = Row<'GET /ui/api/keys'>
const MOST = 50
const KEPT = 'playground.key'

/** The keys that the person may call as: their own, and those that they may change. */
export function useKeys() {
  const params = useParams()
  const may = useMay()
  const { account_id: account } = useSession()
  const query = { limit: MOST, ...(may('key.update') ? {} : { owner: 'me' as const }) }
  const read = useApi('GET /ui/api/keys', { query })
  const isUsable = (key: Key) =>
    (key.state === 'active' || key.state === 'over_budget') &&
    ((account !== null && key.owner_account_id === account) || may('key.update', key))
  const usable = read.data?.data.filter(isUsable)
  const wanted = params.get('key_id') || kept(KEPT, '')
  // One that the address names is called as, wherever it is in the list; one that was kept only while it is usable.
  const chosen = usable?.find(({ key_id: id }) => id === wanted) ?? (params.get('key_id') ? undefined : usable?.[0])
  const keyId = chosen?.key_id ?? params.get('key_id')
  useEffect(() => {
    if (keyId) keep(KEPT, keyId)
  }, [keyId])
  const search: Search = async (text) => {
    const found = text ? (await api('GET /ui/api/keys', { query: { ...query, search: text } })).data : usable
    return (found ?? []).filter(isUsable).map(optionOf)
  }
  return { read, keyId, name: chosen?.key_name ?? keyId, key: chosen, search, hasNone: usable?.length === 0 && !keyId }
}

const optionOf = ({ key_id: value, key_name: name, team_name: team }: Key): Option => ({
  value,
  label: name ?? value,
  note: team ?? undefined,
})
