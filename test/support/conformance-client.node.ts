import { jsonLog } from '../../src/lib/log.ts'
import { separateTimers } from '../../src/lib/timers/timers.ts'
import { mcpToolServers } from '../../src/mcp/mcp-tool-servers.ts'
import { undiciTransport } from '../../src/transport/undici.node.ts'

// The command that the conformance suite runs as the client: the gateway's own client lists the tools of the server at the
// last argument, and calls each with arguments that its schema asks for.
const signal = new AbortController().signal
const transport = undiciTransport()
const servers = mcpToolServers({
  transport,
  timers: separateTimers,
  gateway: 'suite',
  now: Date.now,
  log: jsonLog('silent', () => {}),
})
const url = process.argv.at(-1) as string
const server = { key: 'suite', url, enabled: true, timeoutMs: 15_000, credentials: {}, allowPrivate: true }

const exampleOf = ({ type }: { readonly type?: unknown }) => (type === 'number' || type === 'integer' ? 5 : 'text')

for (const { name, inputSchema } of await servers.tools(server, { signal })) {
  const properties = Object.entries((inputSchema.properties ?? {}) as Record<string, object>)
  const args = Object.fromEntries(properties.map(([property, schema]) => [property, exampleOf(schema)]))
  await servers.call(server, name, args, { signal })
}
await servers.end()
await transport.close()
