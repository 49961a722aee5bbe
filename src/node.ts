import { readFileSync } from 'node:fs'
import { jsonLog } from './lib/log.ts'
import { spareCollector } from './rim/collector.node.ts'
import { within } from './rim/drain.node.ts'
import { greeting } from './rim/greeting.node.ts'
import { lineWriter } from './rim/line-writer.node.ts'
import { nodeAdapters } from './rim/node-adapters.node.ts'
import { nodeConfig } from './rim/node-config.node.ts'
import { configPath, nodeSettings } from './rim/node-settings.node.ts'
import { refusal } from './rim/refusal.node.ts'
import { serve } from './rim/serve.node.ts'
import { whenOrphaned } from './rim/when-orphaned.node.ts'

/** A terminal and npm both pass an interrupt on: only a later one means that somebody is in a hurry. */
const HURRY_AFTER_MS = 1000

/** How long the stores may take to close. */
const CLOSE_MS = 6000

async function start(): Promise<void> {
  const settings = nodeSettings(process.env)
  const { host, dataFolder, drainMs } = settings
  const { config, newMasterKey } = nodeConfig(settings.configPath, dataFolder, process.env)
  const lines = lineWriter((text) => process.stdout.write(text))
  process.on('exit', lines.flush)
  const log = jsonLog(config.general_settings.log_level, lines.write)
  const schemaText = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8')
  const adapters = await nodeAdapters(config, { dataFolder, schemaText, log })
  // What needs no database is answered while that is still starting.
  const serving = await serve(config, adapters, settings)
  const { port } = serving
  log.info('listening', { host, port })

  let stoppingSince: number | undefined
  async function stop(reason: string, exitCode: number): Promise<void> {
    stoppingSince = performance.now()
    log.info('stopping', { reason })
    const outcome = await serving.stop(drainMs)
    await within(CLOSE_MS, adapters.close())
    log.info('stopped', { outcome })
    process.exit(exitCode)
  }
  function asked(signal: string): void {
    if (stoppingSince === undefined) stop(signal, 0)
    else if (performance.now() - stoppingSince > HURRY_AFTER_MS) process.exit(1)
  }
  process.on('SIGTERM', asked)
  process.on('SIGINT', asked)
  if (process.env.npm_lifecycle_event) whenOrphaned(() => asked('orphaned'))

  try {
    await adapters.ready
  } catch (error) {
    if (stoppingSince !== undefined) return
    process.stderr.write(refusal(error, settings.configPath))
    await stop('database', 1)
  }
  lines.flush()
  process.stdout.write(greeting({ host, port, config, newMasterKey, dataFolder }))
}

spareCollector()
try {
  await start()
} catch (error) {
  process.stderr.write(refusal(error, configPath(process.env)))
  process.exit(1)
}
