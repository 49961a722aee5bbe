import { digestOf } from '../../lib/crypto.ts'
import { cancelledToolKey } from '../../stores/kv/keys.ts'
import type { Scope } from '../scope.ts'

/** How often a call looks whether another process was told that it is cancelled. */
const LOOK_MS = 1000
/** How long that is kept: a client may use the id again. */
const KEPT_SECONDS = 10

type Shared = Pick<Scope, 'client' | 'services'>

const keyOf = (name: string) => cancelledToolKey(digestOf(name))

/** Tells the process that runs a call of its cancellation, which came to this one. */
export function tellOthers({ client, services: { store } }: Shared, name: string): void {
  if (store.mode() !== 'shared') return
  client.defer(store.put(keyOf(name), '1', KEPT_SECONDS).catch(() => {}))
}

/** Calls `cancelled` when another process was told that the call of this name is cancelled. Returns what ends the
 *  looking. */
export function hearOthers({ services: { store } }: Shared, name: string, cancelled: () => void): () => void {
  if (store.mode() !== 'shared') return () => {}
  const look = async () => {
    if ((await store.take(keyOf(name))) !== undefined) cancelled()
  }
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
  return () => clearInterval(timer)
}
