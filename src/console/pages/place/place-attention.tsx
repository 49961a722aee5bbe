import { useState } from 'preact/hooks'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Notice } from '../../design/states.tsx'
import type { PlaceOf } from './place.ts'

const MOST = 20
const WEEK_MS = 7 * 86_400_000

/** The keys of an organization or a team that somebody should look at. Nothing where there are none. */
export function PlaceAttention({ of: place }: { readonly of: PlaceOf }) {
  const enabled = useMay()('key.read', place.scope === 'team' ? { ...place, team_id: place.id } : place)
  const [soon] = useState(() => new Date(Date.now() + WEEK_MS).toISOString())
  const at = { [`${place.scope}_id`]: place.id }
  const over = { ...at, state: 'over_budget' } as const
  const ending = { ...at, state: 'active', ends_before: soon } as const
  const found = [
    { words: 'used up their budget', one: 'used up its budget', of: over },
    { words: 'end within a week', one: 'ends within a week', of: ending },
  ]
  const reads = [
    useApi('GET /ui/api/keys', { query: { ...over, limit: MOST } }, { enabled }),
    useApi('GET /ui/api/keys', { query: { ...ending, limit: MOST } }, { enabled }),
  ]
  return (
    <>
      {found.map(({ words, one, of }, index) => {
        const keys = reads[index]?.data
        if (!keys || keys.data.length === 0) return null
        const many = keys.next_cursor ? `More than ${MOST}` : String(keys.data.length)
        return (
          <Notice key={words} tone="warn">
            <a href={pathTo('keys', of)}>{keys.data.length === 1 ? `One key ${one}` : `${many} keys ${words}`}</a>
          </Notice>
        )
      })}
    </>
  )
}
