import { isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { effortOfBudget } from './nearest-effort.ts'

/** What clients of some vendors say in chat in words of these, by what every vendor knows; undefined where that has no word
 *  for it. */
const WORDS: Readonly<Record<string, (value: unknown, drop: Drop) => JsonRecord | undefined>> = {
  // OpenRouter's
  reasoning: (value, drop) => (isRecord(value) ? { reasoning_effort: effortIn(value, drop) } : undefined),
  usage(_, drop) {
    drop('usage')
    return {}
  },
  // Mistral's
  random_seed: (seed) => ({ seed }),
  safe_prompt: (isWanted) => (isWanted === false ? {} : undefined),
}

/** All of them, for servers that may know any. */
export const VENDOR_WORDS: ReadonlySet<string> = new Set(Object.keys(WORDS))

/** The words of a request that a vendor does not know, without those that ask for nothing, as changes of it to what every
 *  vendor knows. What the request says in those words, too, stays. */
export function inCommonWords(body: JsonRecord, known: ReadonlySet<string> | undefined, drop: Drop) {
  const changes: Record<string, unknown> = {}
  const names: Record<string, string> = {}
  for (const word of VENDOR_WORDS) {
    const value = body[word]
    if (value === undefined || value === null || known?.has(word)) continue
    const common = WORDS[word]?.(value, drop)
    if (common === undefined) continue
    changes[word] = undefined
    for (const name of Object.keys(common)) {
      if (body[name] !== undefined || common[name] === undefined) continue
      changes[name] = common[name]
      names[name] = word
    }
  }
  return { changes, names }
}

/** The effort that OpenRouter's `reasoning` asks for. */
function effortIn({ effort, enabled, max_tokens, exclude }: JsonRecord, drop: Drop): unknown {
  if (exclude === true) drop('reasoning.exclude')
  if (enabled === false) return 'none'
  if (typeof max_tokens === 'number') return effortOfBudget(max_tokens)
  return effort ?? (enabled === true ? 'medium' : undefined)
}
