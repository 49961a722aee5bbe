import type { EndedItem, ItemClaim } from '../../stores/sql/batches/claimed-items.ts'
import type { CallFinished } from '../../telemetry/events.ts'
import type { BatchEndpoint } from '../batch-endpoint.ts'

/** An item that can run. */
export interface ReadyItem extends ItemClaim {
  readonly keyId: string
  /** undefined: batches have no such endpoint any more. */
  readonly endpoint: BatchEndpoint | undefined
  readonly customId: string | null
  /** The request; undefined if the input file has none there any more. */
  readonly body: Uint8Array | undefined
}

/** How a try ended.
 *  - `ended`: the item has its result.
 *  - `again`: the item is tried again later, and that counts as a try.
 *  - `postponed`: the whole batch waits; the try does not count. `isHeldBack`: there may be room once another item has
 *    ended.
 *  - `throttled`: both, since the provider has too much to do. */
export type Outcome =
  | { readonly kind: 'ended'; readonly ended: EndedItem; readonly event: CallFinished | undefined }
  | { readonly kind: 'again'; readonly tries: number; readonly delayMs: number; readonly error: string }
  | {
      readonly kind: 'postponed'
      readonly delayMs: number
      readonly isHeldBack?: boolean
      readonly error: string
    }
  | {
      readonly kind: 'throttled'
      readonly tries: number
      readonly delayMs: number
      readonly pauseMs: number
      readonly error: string
    }

/** Whether an item may start.
 *  - `now`
 *  - `later`: when another one of its key has ended.
 *  - a number: nothing of its key for so many milliseconds. */
export type Room = 'now' | 'later' | number

/** Runs the items of batches: the gateway's own pipeline does, and the batch API of a provider may. */
export interface ItemExecutor {
  /** Claims due items of batches other than `except`. undefined: there are none. */
  claim(most: number, except: readonly string[]): Promise<readonly ReadyItem[] | undefined>
  /** `running` items of its key have begun. */
  room(item: ReadyItem, running: number): Promise<Room>
  /** Never rejects. */
  run(item: ReadyItem): Promise<Outcome>
  /** Records how a try ended, together with others. Resolves when that is stored; with false if the claim was lost. */
  complete(item: ReadyItem, outcome: Outcome): Promise<boolean>
  /** Records at once what has ended, because nothing else will end soon. */
  completeNow(): void
  /** Renews the claims of items. To be called every ten seconds. */
  renew(items: readonly ReadyItem[]): Promise<void>
  /** Gives back items that have not ended. Nothing is recorded afterwards. */
  abandon(items: readonly ReadyItem[]): Promise<void>
}
