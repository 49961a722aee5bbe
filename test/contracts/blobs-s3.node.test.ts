import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, describe } from 'vitest'
import { secret } from '../../src/lib/secret.ts'
import { s3Blobs } from '../../src/stores/blobs/s3.ts'
import { s3Endpoint } from '../support/s3.ts'
import { blobContract } from './blobs.ts'

const options = { bucket: 'gateway', region: 'us-east-1', accessKeyId: 'AKIATEST', secretAccessKey: 'a/secret+key' }

describe('S3, over a socket', () => {
  const server = createServer(getRequestListener(s3Endpoint(options).fetch))
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => void server.close())

  blobContract(async () => {
    await listening
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return s3Blobs({ ...options, endpoint, secretAccessKey: secret(options.secretAccessKey) })
  })
})
