import { describe, expect, it } from 'vitest'
import { secret } from '../../src/lib/secret.ts'
import { type R2BucketBinding, r2Blobs, r2Objects } from '../../src/stores/blobs/r2.ts'
import { s3Blobs } from '../../src/stores/blobs/s3.ts'
import { s3Endpoint } from '../support/s3.ts'
import { blobContract } from './blobs.ts'

const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'canary/secret+key' }
const place = { bucket: 'gateway', region: 'eu-central-1' }

function scripted() {
  const endpoint = s3Endpoint({ ...place, ...credentials })
  const blobs = s3Blobs({
    ...place,
    endpoint: 'https://s3.example.com/',
    accessKeyId: credentials.accessKeyId,
    secretAccessKey: secret(credentials.secretAccessKey),
    prefix: 'some/prefix',
    fetch: (url, init) => endpoint.fetch(new Request(url, init)),
  })
  return { endpoint, blobs }
}

const largeBody = () => new Uint8Array(9 * 1024 * 1024)

describe('S3, in the process', () => {
  blobContract(() => scripted().blobs)

  it('drops an upload whose body or part fails', async () => {
    const { endpoint, blobs } = scripted()
    endpoint.failNext('PUT part', { status: 400, code: 'InvalidDigest' })
    await expect(blobs.put('a', largeBody(), 'text/plain')).rejects.toThrow('400 InvalidDigest')
    expect(endpoint.operations).toEqual(['POST create', 'PUT part', 'DELETE upload'])
    expect(endpoint.openUploads()).toBe(0)
  })

  it('repeats what is harmless to repeat when the storage is busy', async () => {
    const { endpoint, blobs } = scripted()
    endpoint.failNext('PUT part', { status: 503, code: 'SlowDown' })
    endpoint.failNext('GET object', { status: 500, code: 'InternalError' })
    await blobs.put('a', largeBody(), 'text/plain')
    expect((await blobs.get('a'))?.size).toBe(9 * 1024 * 1024)
    expect(endpoint.operations).toEqual([
      'POST create',
      'PUT part',
      'PUT part',
      'PUT part',
      'POST complete',
      'GET object',
      'GET object',
    ])
  })

  it('sees the error in an answer of status 200 to a completed upload', async () => {
    const { endpoint, blobs } = scripted()
    endpoint.failNext('POST complete', { status: 200, code: 'InternalError' })
    await expect(blobs.put('a', largeBody(), 'text/plain')).rejects.toThrow('InternalError')
    expect(await blobs.get('a')).toBeUndefined()
    expect(endpoint.openUploads()).toBe(0)
  })

  it('tells a missing bucket, a refused key and a redirect from a missing object, and no error holds the secret', async () => {
    const { endpoint, blobs } = scripted()
    for (const [status, code] of [
      [404, 'NoSuchBucket'],
      [403, 'AccessDenied'],
      [301, 'PermanentRedirect'],
    ] as const) {
      endpoint.failNext('GET object', { status, code })
      const error: unknown = await blobs.get('a').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'S3Error', status, code })
      expect(String(error) + JSON.stringify(error)).not.toContain('canary')
    }
  })

  it('is refused with the wrong secret: the endpoint does verify signatures', async () => {
    const endpoint = s3Endpoint({ ...place, ...credentials })
    const blobs = s3Blobs({
      ...place,
      endpoint: 'https://s3.example.com',
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: secret('another'),
      fetch: (url, init) => endpoint.fetch(new Request(url, init)),
    })
    await expect(blobs.put('a', new Uint8Array(1), 'text/plain')).rejects.toThrow('403 SignatureDoesNotMatch')
  })
})

// The specifier is a variable, because Node knows no such module.
const workers = 'cloudflare:test'

if (navigator.userAgent === 'Cloudflare-Workers') {
  describe('R2, through its binding', () => {
    blobContract(async () => {
      const { env } = (await import(/* @vite-ignore */ workers)) as { env: { BLOBS: R2BucketBinding } }
      return r2Blobs(env.BLOBS)
    })

    it('takes objects of partitioned names, one in the place of another', async () => {
      const { env } = (await import(/* @vite-ignore */ workers)) as { env: { BLOBS: R2BucketBinding } }
      const write = r2Objects(env.BLOBS)
      const key = 'calls of us/date=2026-03-04/hour=05/a.jsonl.gz'
      for (const text of ['first', 'second'])
        await write({ key, bytes: new TextEncoder().encode(text), contentType: 'application/gzip' })
      const found = await env.BLOBS.get(key)
      expect(found?.httpMetadata?.contentType).toBe('application/gzip')
      expect(await new Response(found?.body as ReadableStream<Uint8Array<ArrayBuffer>>).text()).toBe('second')
    })
  })
}
