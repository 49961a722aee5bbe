/** One object storage endpoint of the S3 protocol, in memory: it verifies SigV4 signatures, payload hashes and clock, and
 *  keeps the rules of multipart uploads (order, tags, 5 MiB parts, an error with status 200). A fetch handler of Web
 *  standards, so that it runs in Node behind a socket and in workerd within the process. */
export interface S3Endpoint {
  fetch(request: Request): Promise<Response>
  /** Uploads begun and neither completed nor dropped. */
  openUploads(): number
  /** The keys of all objects. */
  stored(): string[]
  /** The method and kind of each request, in order: `PUT part`, `POST complete`, … */
  readonly operations: string[]
  /** Answers the next request of that kind in this way instead. */
  failNext(operation: string, failure: { status: number; code: string }): void
}

export interface S3EndpointOptions {
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of a temporary access key: each request has to bring it, signed. */
  readonly sessionToken?: string
}

interface StoredObject {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

interface Upload {
  readonly key: string
  readonly contentType: string
  readonly parts: Map<number, { tag: string; bytes: Uint8Array<ArrayBuffer> }>
}

const MIB = 1024 * 1024
const encoder = new TextEncoder()

export function s3Endpoint(options: S3EndpointOptions): S3Endpoint {
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, Upload>()
  const operations: string[] = []
  const failures: { operation: string; status: number; code: string }[] = []

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const query = url.searchParams
    const bytes = new Uint8Array(await request.arrayBuffer())
    const operation = `${request.method} ${kindOf(request.method, query)}`
    operations.push(operation)

    const planned = failures.findIndex((failure) => failure.operation === operation)
    if (planned !== -1) {
      const [failure] = failures.splice(planned, 1)
      return errorAnswer(failure?.status ?? 500, failure?.code ?? '')
    }
    const refusal = await mistakeInSignature(request, url, bytes, options)
    if (refusal) return errorAnswer(403, refusal)

    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/')
    if (bucket !== options.bucket) return errorAnswer(404, 'NoSuchBucket')
    const key = rest.join('/')
    const upload = query.has('uploadId') ? uploads.get(query.get('uploadId') ?? '') : undefined
    if (query.has('uploadId') && upload?.key !== key) return errorAnswer(404, 'NoSuchUpload')
    const contentType = request.headers.get('content-type') ?? 'binary/octet-stream'

    switch (operation) {
      case 'GET object': {
        const found = objects.get(key)
        if (!found) return errorAnswer(404, 'NoSuchKey')
        const size = found.bytes.byteLength
        const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '') ?? []
        const part = first === undefined ? found.bytes : found.bytes.slice(Number(first), Number(last) + 1)
        const headers = { 'content-type': found.contentType, 'content-length': String(part.byteLength) }
        if (first === undefined) return new Response(part, { headers })
        const range = { 'content-range': `bytes ${first}-${Number(first) + part.byteLength - 1}/${size}` }
        return new Response(part, { status: 206, headers: { ...headers, ...range } })
      }
      case 'PUT object':
        objects.set(key, { bytes, contentType })
        return new Response(null, { headers: { etag: `"${await sha256(bytes)}"` } })
      case 'DELETE object':
        objects.delete(key)
        return new Response(null, { status: 204 })
      case 'POST create': {
        // With characters that a query must escape.
        const id = `${crypto.randomUUID()}+/=&`
        uploads.set(id, { key, contentType, parts: new Map() })
        const escaped = id.replaceAll('&', '&amp;')
        return xmlAnswer(
          `<InitiateMultipartUploadResult><UploadId>${escaped}</UploadId></InitiateMultipartUploadResult>`,
        )
      }
      case 'PUT part': {
        const number = Number(query.get('partNumber'))
        if (!Number.isInteger(number) || number < 1 || number > 10_000) return errorAnswer(400, 'InvalidArgument')
        const tag = `"${await sha256(bytes)}"`
        upload?.parts.set(number, { tag, bytes })
        return new Response(null, { headers: { etag: tag } })
      }
      case 'DELETE upload':
        uploads.delete(query.get('uploadId') ?? '')
        return new Response(null, { status: 204 })
      case 'POST complete': {
        const joined = upload && joinParts(upload, new TextDecoder().decode(bytes))
        if (!upload || joined === undefined) return errorAnswer(404, 'NoSuchUpload')
        if (typeof joined === 'string') return errorAnswer(400, joined)
        objects.set(key, { bytes: joined, contentType: upload.contentType })
        uploads.delete(query.get('uploadId') ?? '')
        return xmlAnswer('<CompleteMultipartUploadResult><ETag>&quot;done&quot;</ETag></CompleteMultipartUploadResult>')
      }
      default:
        return errorAnswer(405, 'MethodNotAllowed')
    }
  }

  return {
    fetch: answer,
    openUploads: () => uploads.size,
    stored: () => [...objects.keys()],
    operations,
    failNext: (operation, failure) => void failures.push({ operation, ...failure }),
  }
}

function kindOf(method: string, query: URLSearchParams): string {
  if (query.has('uploads')) return 'create'
  if (query.has('partNumber')) return 'part'
  if (query.has('uploadId')) return method === 'POST' ? 'complete' : 'upload'
  return 'object'
}

/** The joined parts, or the code of the rule that was broken. */
function joinParts(upload: Upload, xml: string): Uint8Array<ArrayBuffer> | string {
  const listed = [...xml.matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag><\/Part>/g)]
  if (listed.length === 0) return 'MalformedXML'
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let previous = 0
  for (const [index, [, number, tag]] of listed.entries()) {
    if (Number(number) <= previous) return 'InvalidPartOrder'
    previous = Number(number)
    const part = upload.parts.get(previous)
    if (!part || part.tag !== tag?.replaceAll('&quot;', '"')) return 'InvalidPart'
    if (index < listed.length - 1 && part.bytes.byteLength < 5 * MIB) return 'EntityTooSmall'
    pieces.push(part.bytes)
  }
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0))
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.byteLength
  }
  return joined
}

/** Signature Version 4 from the request alone, after the AWS reference; a code when it does not hold. */
async function mistakeInSignature(
  request: Request,
  url: URL,
  bytes: Uint8Array<ArrayBuffer>,
  options: S3EndpointOptions,
): Promise<string | undefined> {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
  const [, id, date = '', region, names = '', signature] =
    pattern.exec(request.headers.get('authorization') ?? '') ?? []
  if (id === undefined) return 'AccessDenied'
  if (id !== options.accessKeyId) return 'InvalidAccessKeyId'
  if (region !== options.region) return 'AuthorizationHeaderMalformed'
  const time = request.headers.get('x-amz-date') ?? ''
  const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  if (!(Math.abs(Date.parse(iso) - Date.now()) < 15 * 60_000) || !time.startsWith(date)) return 'RequestTimeTooSkewed'
  const signed = names.split(';')
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date']) if (!signed.includes(name)) return 'AccessDenied'
  if (request.headers.get('x-amz-security-token') !== (options.sessionToken ?? null)) return 'InvalidToken'
  if (options.sessionToken && !signed.includes('x-amz-security-token')) return 'AccessDenied'
  const payload = request.headers.get('x-amz-content-sha256') ?? ''
  if (payload !== (await sha256(bytes))) return 'XAmzContentSHA256Mismatch'

  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const path = decodeURIComponent(url.pathname).split('/').map(encode).join('/')
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`)
  const headers = signed.map((name) => {
    const value = name === 'host' ? url.host : request.headers.get(name)
    return `${name}:${(value ?? '').trim().replace(/\s+/g, ' ')}\n`
  })
  const canonical = [request.method, path, query.sort().join('&'), headers.join(''), names, payload].join('\n')
  const scope = `${date}/${options.region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, await sha256(encoder.encode(canonical))].join('\n')
  let key: Uint8Array<ArrayBuffer> = encoder.encode(`AWS4${options.secretAccessKey}`)
  for (const step of [date, options.region, 's3', 'aws4_request', toSign]) key = await hmac(key, step)
  return hex(key) === signature ? undefined : 'SignatureDoesNotMatch'
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text)))
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const xmlAnswer = (xml: string, status = 200) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`, {
    status,
    headers: { 'content-type': 'application/xml' },
  })
const errorAnswer = (status: number, code: string) =>
  xmlAnswer(`<Error><Code>${code}</Code><Message>scripted</Message></Error>`, status)
