import { useEffect, useState } from 'preact/hooks'
import type { Pages } from '../../data/paging.ts'
import type { Call } from './call.ts'

/** A list that does not move while it is read: calls that came in later are counted, and shown when they are asked for. */
export function useNewCalls(list: Pages<Call>, query: unknown) {
  const key = JSON.stringify(query)
  const [top, setTop] = useState<{ readonly key: string; readonly id: string }>()
  const { rows, stale } = list
  const first = rows[0]?.call_id
  useEffect(() => {
    if (first !== undefined && !stale && top?.key !== key) setTop({ key, id: first })
  }, [key, first, stale])
  const at = top?.key === key ? rows.findIndex(({ call_id }) => call_id === top.id) : 0
  const waiting = at < 0 ? rows.length : at
  return {
    list: at > 0 ? { ...list, rows: rows.slice(at) } : list,
    waiting,
    show: () => first !== undefined && setTop({ key, id: first }),
  }
}
