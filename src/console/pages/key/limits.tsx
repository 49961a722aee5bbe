import { type Key, limitsOf } from './key.ts'

/** The first of a key's own limits; all of them as a title. */
export function Limits({ of: key }: { readonly of: Key }) {
  const [first, ...others] = limitsOf(key)
  if (first === undefined) return <span class="quiet">none</span>
  return (
    <span title={[first, ...others].join(', ')}>
      {first}
      {others.length > 0 && <span class="quiet"> +{others.length}</span>}
    </span>
  )
}
