/** What an upstream sent is no answer, or two readers could understand it differently. The message holds nothing of it. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
}

/** How an answer ends, and what becomes of its connection. */
export interface Framing {
  /** The length of the body: infinite where the end of the connection ends it; undefined where it comes in chunks. */
  readonly length: number | undefined
  /** Whether another request may follow, and after how many seconds no more, if the upstream says that. */
  readonly kept: { readonly seconds: number | undefined } | undefined
}

const FIRST_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i
const KEEP_ALIVE = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i
const SECONDS = /(?:^|[,;])[\t ]*timeout=(\d{1,9})/i

/** How most answers begin. */
const [FINE_LINE, FINE] = ['HTTP/1.1 200 OK', { old: false, status: 200 }]

export function firstLine(line: string): { readonly old: boolean; readonly status: number } {
  if (line === FINE_LINE) return FINE
  const [, minor, status] = FIRST_LINE.exec(line) ?? []
  if (status === undefined || status === '101') throw new BrokenAnswer('the first line is none')
  return { old: minor === '0', status: Number(status) }
}

/** Throws BrokenAnswer where two readers could find different ends of the answer. */
export function framingOf(status: number, old: boolean, headers: Readonly<Record<string, string>>): Framing {
  const { connection = '', 'content-length': length, 'transfer-encoding': codings } = headers
  if (length !== undefined && (codings !== undefined || !/^\d{1,15}$/.test(length)))
    throw new BrokenAnswer('the length is ambiguous')
  const persists = connection === 'keep-alive' || (!CLOSE.test(connection) && (!old || KEEP_ALIVE.test(connection)))
  const seconds = SECONDS.exec(headers['keep-alive'] ?? '')?.[1]
  const kept = persists ? { seconds: seconds === undefined ? undefined : Number(seconds) } : undefined
  // The body that some upstreams send all the same must not be taken for the next answer.
  if (status === 204 || status === 304) return { length: 0, kept: codings || Number(length) > 0 ? undefined : kept }
  if (length !== undefined) return { length: Number(length), kept }
  if (!codings || !/(?:^|,)[\t ]*chunked$/i.test(codings)) return { length: Number.POSITIVE_INFINITY, kept: undefined }
  // Chunks in chunks and chunks of HTTP/1.0 are known from attacks.
  return { length: undefined, kept: old || /chunked.*chunked/i.test(codings) ? undefined : kept }
}
