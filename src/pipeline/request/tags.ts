import type { ModelRequest } from '../../modes/mode.ts'
import { keepable } from '../../stores/sql/storable-text.ts'

const MOST = 20
const LONGEST = 128

const NONE: readonly string[] = []

/** The reporting tags of a call: the first few of its `metadata.tags`, as text that every store accepts. */
export function tagsOf({ metadata }: ModelRequest): readonly string[] {
  const tags = metadata?.tags
  if (!Array.isArray(tags) || tags.length === 0) return NONE
  const tagTexts = tags
    .slice(0, MOST)
    .filter((tag) => typeof tag !== 'object')
    .map((tag) => keepable(String(tag), LONGEST))
    .filter((tag) => tag !== '')
  return [...new Set(tagTexts)]
}
