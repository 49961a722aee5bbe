import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import zlib from 'node:zlib'
import { secret } from '../../src/lib/secret.ts'
import { s3Client } from '../../src/stores/blobs/s3-client.ts'
import { type S3Endpoint, s3Endpoint } from './s3.ts'

/** With a temporary access key. */
export const ACCOUNT = {
  region: 'eu-central-1',
  accessKeyId: 'AKIATEST',
  secretAccessKey: 'canary/secret+key',
  sessionToken: 'canary/token+of=an+hour==',
}

/** A storage of objects behind a socket, which checks signatures, with the bucket `logs`: its objects are locked for a time,
 *  so that it wants a checksum of each. */
export interface LogStorage {
  readonly endpoint: string
  readonly storage: S3Endpoint
  /** The keys of objects in a folder. */
  stored(folder: string): string[]
  /** The rows of an object of JSON lines. */
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  rowsOf(key: string): Promise<any[]>
  close(): void
}

/** As AWS answers. */
const NO_CHECKSUM =
  '<Error><Code>InvalidRequest</Code><Message>Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters</Message></Error>'

export async function startLogStorage(): Promise<LogStorage> {
  const storage = s3Endpoint({ bucket: 'logs', ...ACCOUNT })
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { method = '', url = '', headers } = request
    const body = pieces.length > 0 ? { body: Buffer.concat(pieces) } : {}
    const md5 = createHash('md5').update(Buffer.concat(pieces)).digest('base64')
    if (method === 'PUT' && headers['content-md5'] !== md5) return response.writeHead(400).end(NO_CHECKSUM)
    const asked = new Request(`http://${headers.host}${url}`, { method, headers: headers as HeadersInit, ...body })
    const answer = await storage.fetch(asked)
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const secrets = { secretAccessKey: secret(ACCOUNT.secretAccessKey), sessionToken: secret(ACCOUNT.sessionToken) }
  const send = s3Client({ endpoint, bucket: 'logs', ...ACCOUNT, ...secrets })
  return {
    endpoint,
    storage,
    stored: (folder) => storage.stored().filter((key) => key.startsWith(folder)),
    async rowsOf(key) {
      const answer = await send({ method: 'GET', key, repeatable: false })
      if (answer.status !== 200) throw new Error(`${key}: ${answer.status}`)
      const bytes = Buffer.from(await answer.arrayBuffer())
      const plain = key.endsWith('.gz')
        ? zlib.gunzipSync(bytes)
        : key.endsWith('.zst')
          ? zlib.zstdDecompressSync(bytes)
          : bytes
      const text = plain.toString()
      if (!text.endsWith('\n')) throw new Error(`${key}: its last line does not end`)
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
