import type { BatchCheckpoint } from '../schema/batch-schema.ts'

/** A request of a batch that this claim alone may answer until its lease ends. */
export interface ItemClaim {
  readonly batchId: string
  readonly item: number
  /** The tries that ended and were to be repeated. */
  readonly tries: number
  readonly token: string
  /** Where it is in the input file, if it was read before. */
  readonly startsAt: number | null
  readonly length: number | null
  readonly line: number | null
}

/** What is claimed of one batch. */
export interface Claim {
  readonly batchId: string
  /** In the order of the input. Empty if others took what there was. */
  readonly items: readonly ItemClaim[]
  /** How long the longest due of them waited: fresh ones since the batch was last served. */
  readonly waitedMs: number
}

/** What all items of a batch have in common. */
export interface BatchPlan {
  readonly batchId: string
  readonly endpoint: string
  readonly keyId: string
  readonly inputFileId: string
  readonly inputBytes: number
  readonly requests: number
  readonly checkpoints: readonly BatchCheckpoint[]
}

/** How an item ended. */
export interface EndedItem extends ItemClaim {
  readonly customId: string | null
  readonly failed: boolean
  readonly status: number | null
  readonly errorCode: string | null
  readonly callId: string | null
  readonly model: string | null
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** null: the price is unknown. */
  readonly costNano: number | null
  /** null: it is a blob. */
  readonly text: string | null
}

/** An item that is given back. */
export interface ReleasedItem extends ItemClaim {
  readonly delayMs: number
  readonly lastError: string | null
}
