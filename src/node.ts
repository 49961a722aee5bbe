import { readFileSync } from 'node:fs'
import { jsonLog } from './lib/log.ts'
import { greeting } from './rim/greeting.node.ts'
import { nodeAdapters } from './rim/node-adapters.node.ts'
import { nodeConfig } from './rim/node-config.node.ts'
import { refusal } from './rim/refusal.node.ts'
import { serve } from './rim/serve.node.ts'

const port = Number(process.env.PORT ?? 8787)
const host = process.env.HOST ?? '127.0.0.1'
const dataFolder = process.env.GATEWAY_DATA_DIR ?? '.gateway'
const configPath = process.env.GATEWAY_CONFIG ?? 'gateway.yaml'

async function start(): Promise<void> {
  const { config, newMasterKey } = nodeConfig(configPath, dataFolder, process.env)
  const log = jsonLog(config.general_settings.log_level, (line) => process.stdout.write(`${line}\n`))
  const schemaText = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8')
  const adapters = await nodeAdapters(config, { dataFolder, schemaText, log })
  const serving = await serve(config, adapters, { port, host })

  let stopping = false
  async function stop(signal: string): Promise<void> {
    // Asked a second time, somebody is in a hurry.
    if (stopping) process.exit(1)
    stopping = true
    log.info('stopping', { signal })
    const outcome = await serving.stop()
    await adapters.close()
    log.info('stopped', { outcome })
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.stdout.write(greeting({ host, port: serving.port, config, newMasterKey, dataFolder }))
}

try {
  await start()
} catch (error) {
  process.stderr.write(refusal(error, configPath))
  process.exit(1)
}
