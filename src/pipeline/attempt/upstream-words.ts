import { asRecord } from '../../lib/json/lenient.ts'

const decoder = new TextDecoder()
/** The most characters that are looked at. */
const LONGEST_WORDS = 1000
const LONGEST_PAGE = 4000

/** What an upstream says in the body of an error, whatever its shape; '' if nothing can be read. */
export function upstreamWords(bytes: Uint8Array): string {
  const body = decoder.decode(bytes)
  const words = wordsOf(parsed(body)) ?? plainText(body.slice(0, LONGEST_PAGE))
  return words.slice(0, LONGEST_WORDS).replace(/\s+/g, ' ').trim()
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The members that hold the words, in the shapes of all providers. */
const MEMBERS = ['error', 'message', 'Message', 'detail', 'error_description', 'errors'] as const

function wordsOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  if (typeof value !== 'object' || value === null || depth > 4) return undefined
  if (Array.isArray(value)) return wordsOf(value[0], depth + 1)
  const record = asRecord(value)
  for (const member of MEMBERS) {
    const words = wordsOf(record[member], depth + 1)
    if (words !== undefined) return words
  }
  return undefined
}

/** A page or a plain text without its markup. JSON in which no words were found says nothing. */
function plainText(body: string): string {
  return /^\s*[[{"]/.test(body)
    ? ''
    : body.replace(/<(style|script)\b[\s\S]*?<\/\1\s*>/gi, ' ').replace(/<[^<>]*>/g, ' ')
}
