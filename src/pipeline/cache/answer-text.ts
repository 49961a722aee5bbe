import { gunzipText, gzipText } from '../../lib/bytes/gzip-text.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import { askedAt } from '../../stores/kv/answer-cache.ts'
import type { CachedAnswer } from './cache-use.ts'

/** Shorter texts are stored as they are. */
const COMPRESSED_FROM = 1024

const PLAIN = 'p'
const GZIP = 'z'

/** The stored form of an answer: when it was asked for, its form, and its facts and its body, which are compressed if
 *  that pays. */
export function answerText({ askedAt, body, ...facts }: CachedAnswer, compressed: boolean): string | Promise<string> {
  const text = `${JSON.stringify({ ...facts, length: body.length })}\n${body}`
  if (!compressed || text.length < COMPRESSED_FROM) return `${askedAt}|${PLAIN}${text}`
  return gzipText(text).then((packed) => `${askedAt}|${GZIP}${packed}`)
}

/** The answer of a stored text; undefined if the text is damaged. */
export async function readAnswer(stored: string): Promise<CachedAnswer | undefined> {
  const asked = askedAt(stored)
  if (asked === undefined) return undefined
  const from = stored.indexOf('|') + 1
  const written = stored.slice(from + 1)
  const text = stored[from] === GZIP ? await gunzipText(written) : stored[from] === PLAIN ? written : undefined
  const end = text?.indexOf('\n') ?? -1
  if (text === undefined || end === -1) return undefined
  const facts = parseRecord(text.slice(0, end))
  const body = text.slice(end + 1)
  if (!facts || facts.length !== body.length) return undefined
  const { contentType, pieces, usage, costNano, deployment, provider, dropped } = facts
  const isWhole = typeof contentType === 'string' && typeof costNano === 'number'
  if (!isWhole || typeof deployment !== 'string' || typeof provider !== 'string') return undefined
  if (pieces !== undefined && !isCut(pieces, body)) return undefined
  return {
    askedAt: asked,
    contentType,
    body,
    ...(pieces === undefined ? {} : { pieces: pieces as number[] }),
    usage: usage ? usageOf(usage as Partial<Usage>) : undefined,
    costNano,
    deployment,
    provider,
    ...(typeof dropped === 'string' ? { dropped } : {}),
  }
}

/** Whether these are lengths of pieces that the body consists of. */
function isCut(pieces: unknown, body: string): boolean {
  if (!Array.isArray(pieces)) return false
  const length = pieces.reduce(
    (sum: number, piece) => sum + (Number.isInteger(piece) && piece > 0 ? piece : Number.NaN),
    0,
  )
  return length === encoder.encode(body).byteLength
}

const encoder = new TextEncoder()
