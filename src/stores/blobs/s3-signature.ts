import { AwsV4Signer } from 'aws4fetch'
import { reveal, type Secret } from '../../lib/secret.ts'

export interface S3Account {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  /** Of a temporary access key. */
  readonly sessionToken?: Secret | undefined
}

export interface UnsignedS3Request {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer> | undefined
}

export interface SignedS3Request {
  readonly url: URL
  readonly headers: Headers
}

/** Signs requests by Signature Version 4, their bodies included. */
export function s3Signer({ region, accessKeyId, secretAccessKey, sessionToken }: S3Account) {
  const signingKeys = new Map<string, ArrayBuffer>()
  return async ({ method, url, headers, body }: UnsignedS3Request): Promise<SignedS3Request> =>
    new AwsV4Signer({
      method,
      url,
      headers: { ...headers, 'x-amz-content-sha256': await sha256Hex(body ?? new Uint8Array()) },
      ...(body ? { body } : {}),
      accessKeyId,
      secretAccessKey: reveal(secretAccessKey),
      ...(sessionToken ? { sessionToken: reveal(sessionToken) } : {}),
      region,
      service: 's3',
      cache: signingKeys,
    }).sign()
}

export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
