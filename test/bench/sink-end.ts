import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The far end of sinks, a process of its own: takes everything at once, or takes it and never answers.

const answers = process.argv[2] === 'taken'
const server = createServer((request, response) => {
  request.resume()
  if (answers) request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`)
})
