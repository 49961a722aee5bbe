import { isExactInteger } from '../../lib/json/exact-json.ts'
import { mediaMark } from './without-media.ts'

export interface LoggingRules {
  /** The most bytes of a request's content, and of an answer's. */
  readonly maxBytes: number
  /** What matches one of these is replaced. */
  readonly redact: readonly RegExp[]
}

/** The most parts and characters of a value; further ones are left out. */
const MOST_PARTS = 20_000
const MOST_CHARACTERS = 4 * 1024 * 1024
/** Longer lists of numbers, such as embeddings, are reduced to their length. */
const MOST_NUMBERS = 16
/** How much is redacted beyond a kept part before it is cut, so that no beginning of a secret stays at its edge. */
const MARGIN = 1024
const DEEPEST = 64
const SHORTEST_TEXT = 64

/** JSON of a value as it may be logged: files are replaced by their size and hash, what matches a pattern is redacted,
 *  and what is too long is shortened in the middle of its texts. The result has at most `maxBytes` bytes. */
export function loggable(value: unknown, rules: LoggingRules): string {
  const copy = cleaned(value, rules, { parts: MOST_PARTS, characters: MOST_CHARACTERS }, 0)
  let text = JSON.stringify(copy) ?? 'null'
  for (let longest = rules.maxBytes / 2; longest >= SHORTEST_TEXT && isLong(text, rules); longest /= 4) {
    text = JSON.stringify(copy, (_key, part) => (typeof part === 'string' ? shortened(part, longest) : part))
  }
  for (let kept = rules.maxBytes / 2; isLong(text, rules); kept /= 2) {
    if (kept < 1) return 'null'
    text = JSON.stringify({ shortened: shortened(text, kept) })
  }
  return text
}

const encoder = new TextEncoder()
const isLong = (text: string, { maxBytes }: LoggingRules) =>
  text.length > maxBytes || (3 * text.length > maxBytes && encoder.encode(text).byteLength > maxBytes)

/** What may still be copied. */
interface Room {
  parts: number
  characters: number
}

function cleaned(value: unknown, rules: LoggingRules, room: Room, depth: number): unknown {
  if (typeof value === 'string') return cleanedText(value, rules, room)
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  if (isExactInteger(value)) return value
  room.parts -= 1
  if (room.parts < 0 || depth > DEEPEST) return '…'
  if (Array.isArray(value)) {
    if (value.length > MOST_NUMBERS && typeof value[0] === 'number') return `[${value.length} numbers]`
    const copy: unknown[] = []
    for (const part of value) {
      if (room.parts <= 0) return [...copy, '…']
      copy.push(cleaned(part, rules, room, depth + 1))
    }
    return copy
  }
  const copy: [string, unknown][] = []
  for (const [name, part] of Object.entries(value)) {
    if (room.parts <= 0) break
    copy.push([cleanedText(name, rules, room), cleaned(part, rules, room, depth + 1)])
  }
  return Object.fromEntries(copy)
}

function cleanedText(text: string, rules: LoggingRules, room: Room): string {
  const mark = mediaMark(text)
  if (mark !== undefined) return mark
  if (room.characters <= 0) return '…'
  const { maxBytes } = rules
  const kept = text.length <= 2 * (maxBytes + MARGIN) ? redacted(text, rules) : ends(text, rules)
  room.characters -= kept.length
  return kept
}

/** The beginning and the end of a long text. */
function ends(text: string, rules: LoggingRules): string {
  const span = rules.maxBytes + MARGIN
  const start = redacted(text.slice(0, span), rules).slice(0, -MARGIN)
  const end = redacted(text.slice(-span), rules).slice(MARGIN)
  return `${start}…${end}`.toWellFormed()
}

function redacted(text: string, { redact }: LoggingRules): string {
  let kept = text
  for (const pattern of redact) kept = kept.replace(pattern, '[redacted]')
  return kept
}

function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text
  const half = Math.floor(longest / 2)
  return `${text.slice(0, half)} … ${text.length - 2 * half} characters … ${text.slice(-half)}`.toWellFormed()
}
