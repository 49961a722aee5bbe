import type { Blobs } from '../../stores/blobs/blobs.ts'
import type { BatchPlan, ItemClaim } from '../../stores/sql/batches/claimed-items.ts'
import { CHECKPOINT_ITEMS } from '../../stores/sql/schema/batch-schema.ts'
import { contentKey } from '../batch-ids.ts'
import { type Line, linesOf } from '../lines.ts'
import { persistently } from '../persistently.ts'

/** Where a request begins in the input file. */
interface Place {
  readonly item: number
  readonly offset: number
  readonly line: number
}

/** Reads the requests of items from the input files of their batches. */
export interface ItemReader {
  /** The lines of these items of one batch, by item. One that is not there is left out. */
  read(plan: BatchPlan, items: readonly ItemClaim[]): Promise<ReadonlyMap<number, Line>>
}

const MOST_REMEMBERED = 100

/** A stretch of fresh items is one read, which begins where the last stretch of the batch ended, or at a checkpoint. */
export function itemReader(blobs: Blobs): ItemReader {
  /** Behind the last request that was read of each batch. */
  const ends = new Map<string, Place>()

  function remember(batchId: string, place: Place): void {
    ends.delete(batchId)
    ends.set(batchId, place)
    const [oldest] = ends.keys()
    if (ends.size > MOST_REMEMBERED && oldest !== undefined) ends.delete(oldest)
  }

  function placeBefore({ batchId, checkpoints }: BatchPlan, item: number): Place {
    const index = Math.min(Math.floor(item / CHECKPOINT_ITEMS), checkpoints.length - 1)
    const { offset, line } = checkpoints[index] ?? { offset: 0, line: 1 }
    const checkpoint = { item: Math.max(0, index) * CHECKPOINT_ITEMS, offset, line }
    const end = ends.get(batchId)
    return end && end.item <= item && end.item > checkpoint.item ? end : checkpoint
  }

  async function readStretch(plan: BatchPlan, items: readonly number[], into: Map<number, Line>): Promise<void> {
    const [first, last] = [items[0] as number, items.at(-1) as number]
    const from = placeBefore(plan, first)
    const next = plan.checkpoints[Math.floor(last / CHECKPOINT_ITEMS) + 1]
    const length = (next?.offset ?? plan.inputBytes) - from.offset
    if (length <= 0) return
    const blob = await blobs.get(contentKey(plan.inputFileId), { from: from.offset, length })
    if (!blob) return
    const wanted = new Set(items)
    let { item } = from
    for await (const line of linesOf(blob.body, Number.POSITIVE_INFINITY, from)) {
      if (wanted.has(item)) into.set(item, line)
      item += 1
      if (item <= last) continue
      remember(plan.batchId, { item, offset: line.offset + line.length + 1, line: line.line + 1 })
      break
    }
  }

  async function readKnown(plan: BatchPlan, claim: ItemClaim, into: Map<number, Line>): Promise<void> {
    const { item, startsAt, length, line } = claim
    if (startsAt === null || length === null || line === null) return
    const blob = await blobs.get(contentKey(plan.inputFileId), { from: startsAt, length })
    if (!blob) return
    const bytes = new Uint8Array(await new Response(blob.body).arrayBuffer())
    into.set(item, { line, offset: startsAt, length, bytes })
  }

  return {
    async read(plan, items) {
      const found = new Map<number, Line>()
      const isKnown = ({ startsAt, length, line }: ItemClaim) => startsAt !== null && length !== null && line !== null
      for (const claim of items) if (isKnown(claim)) await persistently(() => readKnown(plan, claim, found))
      const unknown = items.filter((claim) => !isKnown(claim)).map(({ item }) => item)
      for (const stretch of stretchesOf(unknown)) await persistently(() => readStretch(plan, stretch, found))
      return found
    },
  }
}

/** Items that are read together: near enough that what lies between them is not worth a read of its own. */
function stretchesOf(items: readonly number[]): number[][] {
  const stretches: number[][] = []
  for (const item of items.toSorted((one, other) => one - other)) {
    const stretch = stretches.at(-1)
    if (stretch && item - (stretch.at(-1) as number) <= CHECKPOINT_ITEMS) stretch.push(item)
    else stretches.push([item])
  }
  return stretches
}
