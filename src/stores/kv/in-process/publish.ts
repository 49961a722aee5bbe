import { LIFETIME_MS } from '../keys.ts'
import type { Change } from '../shared-store.ts'
import type { State } from './state.ts'
import { removeKeys } from './values.ts'

/** Publishes a change: versions only rise. `scripts/publish.ts` implements it in Lua. */
export function publish(state: State, { records, removed }: Change, now: number): boolean {
  for (const { record, version } of records) {
    if (version > (state.versions.get(record) ?? 0)) state.versions.set(record, version, now + LIFETIME_MS.version)
  }
  removeKeys(state, removed, now)
  return true
}
