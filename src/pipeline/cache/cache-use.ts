import type { Usage } from '../../modes/usage.ts'
import type { CacheLookup } from '../../stores/kv/answer-cache.ts'
import type { Written } from '../request/written-request.ts'
import type { Collected } from './collected.ts'

/** An answer as the cache has it. */
export interface CachedAnswer {
  /** When it was asked for, in milliseconds since 1970, by the store's clock. */
  readonly askedAt: number
  readonly contentType: string
  readonly body: string
  /** The lengths of a stream's pieces in bytes. */
  readonly pieces?: readonly number[]
  readonly usage: Usage | undefined
  /** What it cost; 0 if that is unknown. */
  readonly costNano: number
  readonly deployment: string
  readonly provider: string
  /** The value of the header that names what was dropped from the request. */
  readonly dropped?: string
}

/** How a call uses the cache. */
export interface CacheUse extends Omit<CacheLookup, 'maxAgeSeconds' | 'leadSeconds'> {
  /** Stored answers are used, and identical calls wait for each other. Otherwise the answer is only stored. */
  readonly looks: boolean
  /** How long the answer is kept, and how old a stored one may be. */
  readonly ttlSeconds: number
  /** Objects that a provider keeps of the call belong to all who share the answer, so it may name them. */
  readonly keepsIds: boolean
  /** The texts to embed, if each has an answer of its own. */
  readonly inputs: readonly string[] | undefined
}

/** The cache during a call. */
export interface CallCache {
  readonly use: CacheUse
  /** When the call was admitted, by the store's clock. */
  readonly servedAt: number
  /** How long it waited for an identical call. */
  readonly waitedMs: number
  /** Identical calls wait for this one. */
  readonly leads: boolean
  /** The stored answer that serves the call. */
  readonly hit: CachedAnswer | undefined
  /** For a call with inputs: the stored answer of each; undefined for those that are asked for. */
  readonly known: readonly (CachedAnswer | undefined)[]
  /** The request with all its inputs, where stored answers leave some out. */
  readonly whole: Written | undefined
  /** What the stored answers cost that serve the call. */
  readonly savedNano: number
  /** The call's own answer, as far as it has come; undefined if it is not stored. */
  readonly collected: Collected | undefined
}
