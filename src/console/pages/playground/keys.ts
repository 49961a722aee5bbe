import { useEffect } from 'preact/hooks'
import { useParams } from '../../data/params.ts'
import { keep, kept } from '../../data/settings.ts'
import { useUsableKeys } from '../key/usable-keys.ts'

export type { Key } from '../key/usable-keys.ts'

const KEPT = 'playground.key'

/** The keys that the person may call as, and the one that is called as: that of the address, or the last one. */
export function useKeys() {
  const params = useParams()
  const { read, usable, search } = useUsableKeys()
  const wanted = params.get('key_id') || kept(KEPT, '')
  // One that the address names is called as, wherever it is in the list; one that was kept only while it is usable.
  const chosen = usable?.find(({ key_id: id }) => id === wanted) ?? (params.get('key_id') ? undefined : usable?.[0])
  const keyId = chosen?.key_id ?? params.get('key_id')
  useEffect(() => {
    if (keyId) keep(KEPT, keyId)
  }, [keyId])
  return { read, keyId, name: chosen?.key_name ?? keyId, key: chosen, search, hasNone: usable?.length === 0 && !keyId }
}
