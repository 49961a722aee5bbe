import type { Template } from './template.ts'

/** A prompt that calls may name. */
export interface Prompt {
  readonly key: string
  /** Tells it from a deleted prompt of the same key. */
  readonly createdAt: string
  readonly labels: Readonly<Record<string, number>>
  /** The newest version; there is every version from 1 on. */
  readonly latest: number
  /** The versions that are at hand: the newest one, and those with a label. */
  readonly versions: ReadonlyMap<number, Template>
}

export type PromptsByKey = ReadonlyMap<string, Prompt>
