import { effectiveLimitsOf, type Key } from './key.ts'

/** The tightest limit that a key's calls count against, whosever it is; all of them as a title. */
export function Limits({ of: key }: { readonly of: Key }) {
  const [first, ...others] = effectiveLimitsOf(key)
  if (first === undefined) return <span class="quiet">none</span>
  return (
    <span class="wraps" title={[first, ...others].join(', ')}>
      {first}
      {others.length > 0 && <span class="quiet"> +{others.length}</span>}
    </span>
  )
}
