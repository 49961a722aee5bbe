import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CHUNKS, EMBEDDINGS, FAILING_MARK, PACED, pacedFrame, REPLY, STREAM } from './wire.ts'

/** The far end of the benchmark, a process of its own: answers at once, checks nothing, prints its port. `GET /_open`
 *  tells how many streams it is writing, and `/_drop` ends them. */
const reply = Buffer.from(REPLY)
const embeddings = Buffer.from(EMBEDDINGS)
const frames = STREAM.map((frame) => Buffer.from(frame))
const open = new Set<ServerResponse>()

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (request.url === '/_drop') for (const one of open) one.destroy()
  if (request.url?.startsWith('/_')) return send(Buffer.from(JSON.stringify({ open: open.size })), response)
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces)
    if (request.url?.endsWith('/embeddings')) send(embeddings, response)
    else if (body.includes(FAILING_MARK))
      send(Buffer.from('{"error":{"message":"no","type":"api_error"}}'), response, 500)
    else if (body.includes('"stream":true')) stream(response, PACED.exec(body.toString())?.[1])
    else send(reply, response)
  })
})

function send(whole: Buffer, response: ServerResponse, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': whole.byteLength }).end(whole)
}

function stream(response: ServerResponse, paceMs: string | undefined): void {
  open.add(response)
  response.once('close', () => open.delete(response))
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  if (paceMs === undefined) sendFrom(0, response)
  else sendPaced(response, Number(paceMs))
}

/** One event a turn of the event loop: as fast as it goes, yet each one a write of its own. */
function sendFrom(index: number, response: ServerResponse): void {
  const frame = frames[index]
  if (response.destroyed) return
  if (!frame) return void response.end()
  response.write(frame)
  setImmediate(sendFrom, index + 1, response)
}

function sendPaced(response: ServerResponse, paceMs: number): void {
  if (response.destroyed) return
  response.write(pacedFrame(Date.now()))
  setTimeout(sendPaced, paceMs, response, paceMs)
}

server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port, chunks: CHUNKS })}\n`)
})
