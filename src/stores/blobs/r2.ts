import type { Blobs } from './blobs.ts'
import { checkKey } from './key.ts'
import { putInParts } from './parts.ts'

interface R2Options {
  readonly httpMetadata: { readonly contentType: string }
}

/** What we use of a Workers R2 bucket binding. */
export interface R2BucketBinding {
  get(
    key: string,
    options?: { readonly range: { readonly offset: number; readonly length: number } },
  ): Promise<{
    readonly body: ReadableStream
    readonly size: number
    readonly httpMetadata?: { readonly contentType?: string | undefined } | undefined
  } | null>
  put(key: string, value: ArrayBufferView, options: R2Options): Promise<unknown>
  delete(key: string): Promise<void>
  createMultipartUpload(key: string, options: R2Options): Promise<R2MultipartBinding>
}

export interface R2MultipartBinding {
  uploadPart(number: number, value: ArrayBufferView): Promise<R2UploadedPartBinding>
  complete(parts: R2UploadedPartBinding[]): Promise<unknown>
  abort(): Promise<void>
}

export interface R2UploadedPartBinding {
  partNumber: number
  etag: string
}

/** Blobs in a bucket of Cloudflare R2, through the Worker's binding. */
export function r2Blobs(bucket: R2BucketBinding): Blobs {
  return {
    async put(key, body, contentType) {
      checkKey(key)
      const options = { httpMetadata: { contentType } }
      // R2 takes a stream only when it knows its length.
      const size = await putInParts(body, {
        whole: async (bytes) => void (await bucket.put(key, bytes, options)),
        begin: async () => {
          const upload = await bucket.createMultipartUpload(key, options)
          const parts: R2UploadedPartBinding[] = []
          return {
            part: async (number, bytes) => void parts.push(await upload.uploadPart(number, bytes)),
            complete: async () => void (await upload.complete(parts)),
            abort: () => upload.abort(),
          }
        },
      })
      return { size, contentType }
    },
    async get(key, range) {
      checkKey(key)
      const found = await (range
        ? bucket.get(key, { range: { offset: range.from, length: range.length } })
        : bucket.get(key))
      if (!found) return undefined
      const contentType = found.httpMetadata?.contentType ?? 'application/octet-stream'
      return { body: found.body, size: found.size, contentType }
    },
    async remove(key) {
      checkKey(key)
      await bucket.delete(key)
    },
  }
}

/** Writes objects of any key and of a size that fits into memory. */
export function r2Objects(bucket: Pick<R2BucketBinding, 'put'>) {
  return async ({
    key,
    bytes,
    contentType,
  }: {
    readonly key: string
    readonly bytes: Uint8Array
    readonly contentType: string
  }): Promise<string> => {
    await bucket.put(key, bytes, { httpMetadata: { contentType } })
    return 'it is stored'
  }
}
