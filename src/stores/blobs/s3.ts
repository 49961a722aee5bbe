import type { Blobs } from './blobs.ts'
import { checkKey } from './key.ts'
import { type MultipartUpload, putInParts } from './parts.ts'
import { element, errorOf, S3Error, type S3Options, s3Client, xmlOf } from './s3-client.ts'

/** Blobs in a bucket of any storage with the S3 protocol. */
export function s3Blobs(options: S3Options): Blobs {
  if (options.prefix) checkKey(options.prefix)
  const send = s3Client(options)

  async function begin(key: string, contentType: string): Promise<MultipartUpload> {
    const headers = { 'content-type': contentType }
    const created = await send({ method: 'POST', key, query: { uploads: '' }, headers, repeatable: false })
    if (!created.ok) throw await errorOf('CreateMultipartUpload', created)
    const uploadId = element(await xmlOf(created), 'UploadId')
    if (uploadId === undefined) throw new S3Error('CreateMultipartUpload', created.status, 'without an UploadId')
    const tags: string[] = []

    return {
      async part(number, body) {
        const query = { partNumber: String(number), uploadId }
        const response = await send({ method: 'PUT', key, query, body, repeatable: true })
        if (!response.ok) throw await errorOf('UploadPart', response)
        await response.body?.cancel()
        const tag = response.headers.get('etag')
        if (tag === null) throw new S3Error('UploadPart', response.status, 'without an ETag')
        tags.push(tag)
      },
      async complete() {
        const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
        const xml = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
        const body = new TextEncoder().encode(xml)
        const response = await send({ method: 'POST', key, query: { uploadId }, body, repeatable: false })
        if (!response.ok) throw await errorOf('CompleteMultipartUpload', response)
        // The status is sent before the parts are joined, so only the body contains the outcome.
        const answer = await xmlOf(response)
        if (element(answer, 'ETag') === undefined) {
          throw new S3Error('CompleteMultipartUpload', response.status, element(answer, 'Code') ?? 'without an ETag')
        }
      },
      async abort() {
        const response = await send({ method: 'DELETE', key, query: { uploadId }, repeatable: true })
        await response.body?.cancel()
      },
    }
  }

  return {
    async put(key, body, contentType) {
      checkKey(key)
      const size = await putInParts(body, {
        async whole(bytes) {
          const headers = { 'content-type': contentType }
          const response = await send({ method: 'PUT', key, headers, body: bytes, repeatable: true })
          if (!response.ok) throw await errorOf('PutObject', response)
          await response.body?.cancel()
        },
        begin: () => begin(key, contentType),
      })
      return { size, contentType }
    },

    async get(key, range) {
      checkKey(key)
      const headers = range ? { range: `bytes=${range.from}-${range.from + range.length - 1}` } : {}
      const response = await send({ method: 'GET', key, headers, repeatable: true })
      if (!response.ok) {
        const error = await errorOf('GetObject', response)
        if (error.status === 404 && error.code === 'NoSuchKey') return undefined
        throw error
      }
      if (range && response.status !== 206) {
        throw new S3Error('GetObject', response.status, 'as a whole, where a part was asked for')
      }
      const size = sizeOf(response)
      if (response.body === null || !Number.isSafeInteger(size)) {
        throw new S3Error('GetObject', response.status, 'without a body of known length')
      }
      const contentType = response.headers.get('content-type') ?? 'application/octet-stream'
      return { body: response.body, size, contentType }
    },

    async remove(key) {
      checkKey(key)
      const response = await send({ method: 'DELETE', key, repeatable: true })
      if (!response.ok && response.status !== 404) throw await errorOf('DeleteObject', response)
      await response.body?.cancel()
    },
  }
}

/** The size of the object; for a part it follows the slash of `bytes 0-99/1234`. NaN if the answer has none. */
function sizeOf({ status, headers }: Response): number {
  if (status !== 206) return Number(headers.get('content-length') ?? Number.NaN)
  return Number(headers.get('content-range')?.split('/')[1] ?? Number.NaN)
}
