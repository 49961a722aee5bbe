import type { Config } from '../config/schema.ts'
import type { Blobs } from '../stores/blobs/blobs.ts'
import { s3Blobs } from '../stores/blobs/s3.ts'

/** The S3-compatible storage of the configuration; undefined if it has none. */
export function s3Storage({ general_settings: { blob_storage: storage } }: Config): Blobs | undefined {
  if (!storage) return undefined
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token, ...rest } = storage
  return s3Blobs({ ...rest, accessKeyId, secretAccessKey, sessionToken: session_token })
}
