import { type S3Account, s3Signer } from './s3-signature.ts'

export interface S3Options extends S3Account {
  /** Without the bucket, e.g. `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string
  readonly bucket: string
  /** The prefix of every key, without a `/` at the end. */
  readonly prefix?: string | undefined
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** The request may be sent twice. */
  readonly repeatable: boolean
}

/** An answer of the storage that is neither success nor `404 NoSuchKey`. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  readonly status: number
  readonly code: string

  constructor(operation: string, status: number, code: string) {
    super(`${operation} was answered by the object storage with ${status} ${code}`)
    this.status = status
    this.code = code
  }
}

const TRIES = 3
const TIMEOUT_MS = 60_000

/** Sends signed, path-style requests, and retries those that may be sent twice. An answer that says nothing for a minute
 *  fails. */
export function s3Client({ fetch = globalThis.fetch, ...options }: S3Options) {
  const root = `${options.endpoint.replace(/\/+$/, '')}/${options.bucket}/${options.prefix ? `${options.prefix}/` : ''}`
  const sign = s3Signer(options)

  async function once({ method, key, query = {}, headers = {}, body }: S3Request): Promise<Response> {
    const url = new URL(root + key)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signed = await sign({ method, url: url.href, headers, body })
    // Not signed, because proxies may change it. A compressed answer would not have the length of the object.
    signed.headers.set('accept-encoding', 'identity')
    const silence = new AbortController()
    const { href } = signed.url
    const init = { method, headers: signed.headers, body: body ?? null, redirect: 'manual', signal: silence.signal }
    const answer = await unlessSilent(silence, fetch(href, init as RequestInit))
    return answer.body ? new Response(timely(answer.body.getReader(), silence), answer) : answer
  }

  return async function send(request: S3Request): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const last = !request.repeatable || attempt === TRIES
      try {
        const response = await once(request)
        if (last || (response.status < 500 && response.status !== 429)) return response
        await response.body?.cancel()
      } catch (error) {
        if (last) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 200 * 2 ** attempt))
    }
  }
}

/** The body of an answer. Only who waits for a piece counts its time: a large body may take long, and so may its reader. */
function timely(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silence: AbortController,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await unlessSilent(silence, reader.read())
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array<ArrayBuffer>)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

async function unlessSilent<T>(silence: AbortController, awaited: Promise<T>): Promise<T> {
  const timer = setTimeout(() => silence.abort(new Error('the object storage did not answer in time')), TIMEOUT_MS)
  try {
    return await awaited
  } finally {
    clearTimeout(timer)
  }
}

/** What the XML of an answer says is at its beginning. */
const MOST_XML = 16 * 1024

/** The XML of an answer, cut where it is too long: a far end that is no storage may send anything. */
export async function xmlOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let xml = ''
  for await (const piece of body ?? []) {
    xml += decoder.decode(piece.subarray(0, MOST_XML), { stream: true })
    if (xml.length > MOST_XML) break
  }
  return xml
}

/** Reads an answer's XML for the text of one element. S3's identifiers hold no entities but `&quot;` and `&amp;`. */
export function element(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return found?.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** The error in an answer; S3 may also send one with status 200 once it has begun to work. */
export async function errorOf(operation: string, response: Response): Promise<S3Error> {
  return new S3Error(operation, response.status, element(await xmlOf(response), 'Code') ?? 'without a code')
}
