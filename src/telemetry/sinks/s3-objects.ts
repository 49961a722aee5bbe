import type { Abort } from '../../lib/abort.ts'
import { md5Base64 } from '../../lib/crypto.ts'
import { type S3Account, s3Signer } from '../../stores/blobs/s3-signature.ts'
import type { Transport } from '../../transport/transport.ts'
import { post } from './post.ts'
import { SinkFailure } from './sink.ts'

export interface LogObject {
  readonly key: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** Writes or replaces an object; resolves with the answer in words. */
export type ObjectWriter = (object: LogObject, abort: Abort) => Promise<string>

export interface SignedObjectsOptions extends S3Account {
  /** Without the bucket. */
  readonly endpoint: string
  readonly bucket: string
}

/** Objects of a storage that speaks S3, by signed, path-style requests. */
export function signedObjects(
  { endpoint, bucket, ...account }: SignedObjectsOptions,
  transport: Transport,
): ObjectWriter {
  const sign = s3Signer(account)
  const root = `${endpoint.replace(/\/+$/, '')}/${bucket}/`
  return async ({ key, bytes, contentType }, abort) => {
    const path = key.split('/').map(encodeURIComponent).join('/')
    const md5 = md5Base64(bytes)
    // A bucket with Object Lock takes nothing without it, and storages that know no other checksum know this one.
    const contents = { 'content-type': contentType, ...(md5 === undefined ? {} : { 'content-md5': md5 }) }
    const { url, headers } = await sign({ method: 'PUT', url: root + path, headers: contents, body: bytes })
    try {
      const { status } = await post(
        transport,
        { method: 'PUT', url: url.href, headers: Object.fromEntries(headers), body: bytes },
        abort,
      )
      return `it answered ${status}`
    } catch (error) {
      // S3 answers 400 to a wrong region or an expired token, never because of the rows.
      if (error instanceof SinkFailure && error.kind === 'refused') throw new SinkFailure('away', error.message)
      throw error
    }
  }
}
