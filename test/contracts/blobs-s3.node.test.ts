import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, describe } from 'vitest'
import { secret } from '../../src/lib/secret.ts'
import { s3Blobs } from '../../src/stores/blobs/s3.ts'
import { s3Endpoint } from '../support/s3.ts'
import { blobContract } from './blobs.ts'

const options = {
  bucket: 'gateway',
  region: 'us-east-1',
  accessKeyId: 'ASIATEST',
  secretAccessKey: 'a/secret+key',
  sessionToken: 'a/token+of=an+hour==',
}

describe('S3, over a socket, by a temporary access key', () => {
  const server = createServer(getRequestListener(s3Endpoint(options).fetch))
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => void server.close())

  blobContract(async () => {
    await listening
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const secrets = { secretAccessKey: secret(options.secretAccessKey), sessionToken: secret(options.sessionToken) }
    return s3Blobs({ ...options, endpoint, ...secrets })
  })
})
