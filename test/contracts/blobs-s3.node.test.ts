import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { secret } from '../../src/lib/secret.ts'
import { s3Blobs } from '../../src/stores/blobs/s3.ts'
import { s3Endpoint } from '../support/s3.ts'
import { settled } from '../support/transport-scene.node.ts'
import { blobContract } from './blobs.ts'

const options = {
  bucket: 'gateway',
  region: 'us-east-1',
  accessKeyId: 'ASIATEST',
  secretAccessKey: 'a/secret+key',
  sessionToken: 'a/token+of=an+hour==',
}
const secrets = { secretAccessKey: secret(options.secretAccessKey), sessionToken: secret(options.sessionToken) }

describe('S3, over a socket, by a temporary access key', () => {
  const server = createServer(getRequestListener(s3Endpoint(options).fetch))
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => void server.close())

  blobContract(async () => {
    await listening
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return s3Blobs({ ...options, endpoint, ...secrets })
  })
})

describe('S3 that falls silent amid an object', () => {
  it('fails its reader after a minute, and not a slow reader', { timeout: 10_000 }, async () => {
    const server = createServer((_, response) => void response.writeHead(200, { 'content-length': 10 }).write('begun'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const blobs = s3Blobs({ ...options, endpoint, ...secrets })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const reader = (await blobs.get('an/object'))?.body.getReader()
      vi.advanceTimersByTime(120_000)
      expect((await reader?.read())?.value).toEqual(new TextEncoder().encode('begun'))
      const failed = expect(reader?.read()).rejects.toThrow('the object storage did not answer in time')
      await settled()
      vi.advanceTimersByTime(60_000)
      await failed
    } finally {
      vi.useRealTimers()
      server.closeAllConnections()
      server.close()
    }
  })
})

describe('S3 whose error never ends', () => {
  it('is read as far as errors go', async () => {
    const sent = vi.fn((controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(10_000)))
    const left = vi.fn()
    const fetch = async () => new Response(new ReadableStream({ pull: sent, cancel: left }), { status: 403 })
    const blobs = s3Blobs({ ...options, endpoint: 'https://s3.example', ...secrets, fetch })
    await expect(blobs.get('an/object')).rejects.toThrow('403 without a code')
    expect(sent.mock.calls.length).toBeLessThan(5)
    expect(left).toHaveBeenCalled()
  })
})
