import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { createApp } from './app.ts'
import { describeError, jsonLog } from './lib/log.ts'
import { drain, pendingWork } from './rim/drain.node.ts'
import { greeting } from './rim/greeting.node.ts'
import { nodeAdapters } from './rim/node-adapters.node.ts'
import { nodeClient } from './rim/node-client.node.ts'
import { nodeConfig } from './rim/node-config.node.ts'
import { refusal } from './rim/refusal.node.ts'
import { createServices } from './services.ts'

const port = Number(process.env.PORT ?? 8787)
const host = process.env.HOST ?? '127.0.0.1'
const dataFolder = process.env.GATEWAY_DATA_DIR ?? '.gateway'
const configPath = process.env.GATEWAY_CONFIG ?? 'gateway.yaml'

async function start(): Promise<void> {
  const { config, newMasterKey } = nodeConfig(configPath, dataFolder, process.env)
  const log = jsonLog(config.general_settings.log_level, (line) => process.stdout.write(`${line}\n`))
  const schemaText = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8')
  const pending = pendingWork((error) => log.error('deferred.failed', { error: describeError(error) }))

  let draining = false
  const adapters = await nodeAdapters(config, { dataFolder, schemaText, log, draining: () => draining })
  const app = createApp(createServices(config, adapters))
  const server = createAdaptorServer({
    fetch(request, bindings) {
      const { incoming, outgoing } = bindings as { incoming: IncomingMessage; outgoing: ServerResponse }
      return app.fetch(request, { client: nodeClient(incoming, outgoing, pending.add) })
    },
    serverOptions: { keepAliveTimeout: 75_000, noDelay: true },
  }) as Server

  async function stop(signal: string): Promise<void> {
    if (draining) process.exit(1)
    draining = true
    log.info('stopping', { signal })
    const outcome = await drain(server, pending)
    await adapters.close()
    log.info('stopped', { outcome })
    process.exit(0)
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const address = server.address()
  const listening = typeof address === 'object' && address ? address.port : port
  process.stdout.write(greeting({ host, port: listening, config, newMasterKey, dataFolder }))
}

try {
  await start()
} catch (error) {
  process.stderr.write(refusal(error, configPath))
  process.exit(1)
}
