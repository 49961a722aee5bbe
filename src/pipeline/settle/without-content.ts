import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { WORDS_OF_ERRORS } from './words-of-errors.ts'

const MASK = '[…]'
/** The least number of characters that a text shares with the content and that are masked; and of a whole word. */
const LONGEST_SHARED = 15
const SHORTEST_WORD = 3
/** Every stretch of LONGEST_SHARED characters contains a shorter one of this length that begins at a multiple of it. */
const GRAM = 8
const WORDS = /[\p{L}\p{N}](?:[\p{L}\p{N}_@.+/:-]*[\p{L}\p{N}])?/gu
/** Scripts in which no space tells where a word ends. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** More content than this is not compared, nor content that repeats the text too often: all of it is masked then. */
const MOST_CONTENT = 2_000_000
const MOST_WORK = 5_000_000
/** Members of a request that are never content. */
const FORMAL = new Set(['role', 'type', 'model'])

/** A text without what it quotes of a request's content: providers repeat in their errors what they were sent. Masked
 *  is every stretch of LONGEST_SHARED characters that is in the content, and every word that is, unless all errors are
 *  made of it. '' if that cannot be told. */
export function withoutContent(text: string, request: ModelRequest): string {
  const lower = text.toLowerCase()
  // Some letters are longer in lower case, so that positions differ.
  if (lower.length !== text.length || UNSPACED.test(text)) return ''
  const content = contentOf(request)
  const hidden = new Uint8Array(text.length)
  if (!content || !hideShared(lower, content, hidden)) return ''
  for (const { 0: word, index } of lower.matchAll(WORDS)) {
    if (word.length < SHORTEST_WORD || WORDS_OF_ERRORS.has(word) || hidden[index]) continue
    if (content.some((one) => one.includes(word))) hidden.fill(1, index, index + word.length)
  }
  return masked(text, hidden)
}

/** The texts of a request in lower case; undefined if they are too long, or if a member that was not parsed before
 *  turns out to be no JSON. */
function contentOf(request: ModelRequest): readonly string[] | undefined {
  try {
    return textsOf(request)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

function textsOf(request: ModelRequest): readonly string[] | undefined {
  const content: string[] = []
  let size = 0
  const rest: object[] = []
  const add = (value: unknown) => {
    if (typeof value === 'object' && value !== null) rest.push(value)
    if (typeof value !== 'string' || size > MOST_CONTENT) return
    size += value.length
    content.push(value.toLowerCase())
  }
  rest.push(request)
  for (let next = rest.pop(); next && size <= MOST_CONTENT; next = rest.pop()) {
    if (Array.isArray(next)) next.forEach(add)
    else for (const [name, value] of Object.entries(next)) if (!FORMAL.has(name)) add(value)
  }
  return size > MOST_CONTENT ? undefined : content
}

/** Returns whether all could be compared. */
function hideShared(text: string, content: readonly string[], hidden: Uint8Array): boolean {
  const positions = new Map<string, number[]>()
  for (let at = 0; at + GRAM <= text.length; at++) {
    const gram = text.slice(at, at + GRAM)
    const known = positions.get(gram)
    if (known) known.push(at)
    else positions.set(gram, [at])
  }
  let work = 0
  for (const one of content) {
    for (let at = 0; at + GRAM <= one.length; at += GRAM) {
      for (const found of positions.get(one.slice(at, at + GRAM)) ?? []) {
        let before = 0
        while (found > before && at > before && text[found - before - 1] === one[at - before - 1]) before += 1
        let after = GRAM
        while (found + after < text.length && text[found + after] === one[at + after]) after += 1
        if (before + after >= LONGEST_SHARED) hidden.fill(1, found - before, found + after)
        work += before + after
        if (work > MOST_WORK) return false
      }
    }
  }
  return true
}

function masked(text: string, hidden: Uint8Array): string {
  let result = ''
  for (let at = 0; at < text.length; at++) {
    if (!hidden[at]) result += text[at]
    else if (!hidden[at - 1]) result += MASK
  }
  return result
}
