import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CHUNKS, EMBEDDINGS, REPLY, STREAM } from './wire.ts'

/** The far end of the benchmark, a process of its own: answers at once, checks nothing, prints its port. */
const reply = Buffer.from(REPLY)
const embeddings = Buffer.from(EMBEDDINGS)
const frames = STREAM.map((frame) => Buffer.from(frame))

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    if (request.url?.endsWith('/embeddings')) send(embeddings, response)
    else if (Buffer.concat(pieces).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      sendFrom(0, response)
    } else {
      send(reply, response)
    }
  })
})

function send(whole: Buffer, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.byteLength }).end(whole)
}

/** One event a turn of the event loop: as fast as it goes, yet each one a write of its own. */
function sendFrom(index: number, response: ServerResponse): void {
  const frame = frames[index]
  if (response.destroyed) return
  if (!frame) return void response.end()
  response.write(frame)
  setImmediate(sendFrom, index + 1, response)
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port, chunks: CHUNKS })}\n`)
})
