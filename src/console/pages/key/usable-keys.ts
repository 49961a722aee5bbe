import { api, type Row } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { useMay, useSession } from '../../data/session.ts'
import type { Option, Search } from '../../design/form/combobox.tsx'

export type Key = Row<'GET /ui/api/keys'>
const MOST = 50

/** The keys that the person may act as: their own, and those that they may change. */
export function useUsableKeys() {
  const may = useMay()
  const { account_id: account } = useSession()
  const query = { limit: MOST, ...(may('key.update') ? {} : { owner: 'me' as const }) }
  const read = useApi('GET /ui/api/keys', { query })
  const isUsable = (key: Key) =>
    (key.state === 'active' || key.state === 'over_budget') &&
    ((account !== null && key.owner_account_id === account) || may('key.update', key))
  const usable = read.data?.data.filter(isUsable)
  const search: Search = async (text) => {
    const found = text ? (await api('GET /ui/api/keys', { query: { ...query, search: text } })).data : usable
    return (found ?? []).filter(isUsable).map(optionOf)
  }
  return { read, usable, search }
}

export const optionOf = ({ key_id: value, key_name: name, team_name: team }: Key): Option => ({
  value,
  label: name ?? value,
  note: team ?? undefined,
})
