import { GatewayError } from '../errors.ts'
import { COMMA, MARKS, Mark, plainEnd, stringEnd, viewOf } from './json-members.ts'

/** The limits of a document. Building it costs by its members, not by its bytes. */
interface JsonBounds {
  /** Members of its outermost object. */
  readonly own: number
  /** Members of all objects, and objects and lists themselves. */
  readonly members: number
  /** Texts, names included. Each is an object of its own, however short it is. */
  readonly texts: number
  /** Commas outside of texts: what else is in lists, such as numbers. */
  readonly commas: number
  /** The depth of nested objects and lists. */
  readonly levels: number
}

/** More than the longest conversation that the largest models can read, with all of its tools. */
export const REQUEST_BOUNDS: JsonBounds = {
  own: 1000,
  members: 200_000,
  texts: 1_000_000,
  commas: 5_000_000,
  levels: 500,
}

/** Records are serialized again, which recurses for each level. */
export const RECORD_BOUNDS: JsonBounds = { ...REQUEST_BOUNDS, levels: 200 }

/** More than the longest answers have: recordings of many hours with the time of each word, the odds of each token. */
const FOREIGN_BOUNDS: JsonBounds = {
  own: 1_000_000,
  members: 1_000_000,
  texts: 2_000_000,
  commas: 10_000_000,
  levels: 1_000_000,
}
/** What is shorter takes little to build, whatever it holds. */
const UNBOUND_CHARACTERS = 256 * 1024

/** The shortest integer that a double rounds has 16 digits, and the last three may be left to the next look. */
const LONG = 13

/** Throws if the JSON in `bytes` exceeds its bounds, in one pass and before any of it is built. It does not check that
 *  the bytes are valid JSON. Returns whether an integer that a double rounds may be among its values: false spares
 *  another look at each character. */
export function boundJson(bytes: Uint8Array, { own, members, texts, commas, levels }: JsonBounds): boolean {
  const { byteLength } = bytes
  // A document that exceeds a bound has more bytes.
  if (byteLength <= Math.min(own, members, texts, commas, levels)) return true
  const mayHaveTooManyCommas = byteLength > commas
  const view = viewOf(bytes)
  let level = 0
  let ownSeen = 0
  let seen = 0
  let textsSeen = 0
  let commasSeen = 0
  let at = 0
  let long = false
  while (at < byteLength) {
    const mark = MARKS[bytes[at] as number]
    if (mark === Mark.none) {
      const end = plainEnd(view, at + 1)
      long ||= end - at >= LONG
      if (mayHaveTooManyCommas) for (; at < end; at++) if (bytes[at] === COMMA) commasSeen += 1
      at = end
      if (commasSeen > commas) throw tooMany(`The request body has more than ${commas} values.`)
      continue
    }
    if (mark === Mark.quotes) {
      at = stringEnd(bytes, view, at)
      textsSeen += 1
      if (textsSeen > texts) throw tooMany(`The request body has more than ${texts} texts.`)
      continue
    }
    at += 1
    if (mark === Mark.closes) {
      level -= 1
      continue
    }
    seen += 1
    if (mark === Mark.opens) level += 1
    else if (level === 1) ownSeen += 1
    if (level > levels) throw tooDeep(levels)
    if (ownSeen > own) throw tooMany(`The object of the request body has more than ${own} members.`)
    if (seen > members) throw tooMany(`The request body has more than ${members} members, objects and lists.`)
  }
  return long
}

const encoder = new TextEncoder()

/** Throws if building the JSON of an upstream would take up many times its bytes. */
export function boundForeign(json: string | Uint8Array): void {
  if (json.length > UNBOUND_CHARACTERS)
    boundJson(typeof json === 'string' ? encoder.encode(json) : json, FOREIGN_BOUNDS)
}

function tooDeep(levels: number): GatewayError {
  const message = `The request body is nested more than ${levels} levels deep.`
  return new GatewayError('invalid_request', message, { code: 'nested_too_deeply' })
}

function tooMany(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { code: 'too_many_members' })
}
