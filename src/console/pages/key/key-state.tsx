import { useNow } from '../../data/time-range.ts'
import { State } from '../../design/badge.tsx'
import { moment } from '../../design/format.ts'
import type { Key } from './key.ts'

const SOON_MS = 7 * 86_400_000

/** What decides about a key's calls, in a word. */
export function KeyState({ of: key }: { readonly of: Key }) {
  const now = useNow(60_000)
  const { state, expires_at: expires } = key
  switch (state) {
    case 'revoked':
      return (
        <span class="quiet" title={key.revoked_at ? moment(key.revoked_at) : undefined}>
          revoked
        </span>
      )
    case 'expired':
      return <span class="quiet">expired</span>
    case 'over_budget':
      return (
        <State tone="bad" title="It has spent its budget: its calls are refused.">
          over budget
        </State>
      )
    case 'owner_disabled':
      return (
        <State tone="warn" title="The account of its owner is not active: its calls are refused.">
          owner disabled
        </State>
      )
    default:
      return expires !== null && Date.parse(expires) - now < SOON_MS ? (
        <State tone="warn">ends soon</State>
      ) : (
        <State>active</State>
      )
  }
}
