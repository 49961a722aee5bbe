import { readFileSync } from 'node:fs'
import { describeError, jsonLog } from '../../../lib/log.ts'
import { atMost } from '../../../lib/timers/at-most.ts'
import { nodeAdapters } from '../setup/adapters.node.ts'
import { nodeConfig } from '../setup/config.node.ts'
import { memoryLimit, shortMemory } from '../setup/memory.node.ts'
import { SCHEMA } from '../setup/places.node.ts'
import type { NodeSettings } from '../setup/settings.node.ts'
import { whyNotWritable } from '../setup/writable-folder.node.ts'
import { greeting } from './greeting.node.ts'
import { lineWriter } from './line-writer.node.ts'
import { groupMember } from './process-group.node.ts'
import { refusal } from './refusal.node.ts'
import { serve } from './serve.node.ts'
import { onStop } from './stop-signals.node.ts'
import { vitals } from './vitals.node.ts'
import { whenOrphaned } from './when-orphaned.node.ts'

/** A second signal after this time ends the process at once. One interrupt may arrive twice, from the terminal and from
 *  npm. */
const REPEATED_AFTER_MS = 1000

/** The time for closing the stores. */
const CLOSE_MS = 6000

/** Starts one process of the gateway, and stops it on a signal. */
export async function startGateway(settings: NodeSettings): Promise<void> {
  const { host, dataFolder, drainMs } = settings
  const { config, newMasterKey, isSample } = nodeConfig(settings.configPath, dataFolder, process.env)
  const lines = lineWriter(process.stdout)
  process.on('exit', lines.flush)
  const schemaText = readFileSync(SCHEMA, 'utf8')
  const member = groupMember()
  const log = jsonLog(
    config.general_settings.log_level,
    lines.write,
    Date.now,
    member ? { pid: process.pid } : {},
    lines,
  )
  // One request's mistake ends neither the process nor the answers of others.
  process.on('unhandledRejection', (error) => log.error('rejection.unhandled', { error: describeError(error) }))
  const { database_url, max_backlog_bytes } = config.general_settings
  const embedded = !database_url
  const short = shortMemory(memoryLimit(), { embedded, processes: settings.processes })
  if (short !== undefined) log.warn('memory.short', { message: short })
  // An embedded database refuses to start there.
  const closed = embedded || max_backlog_bytes === 0 ? undefined : whyNotWritable(dataFolder)
  if (closed !== undefined) log.warn('data_folder.not_writable', { message: closed })
  const adapters = await nodeAdapters(config, { dataFolder, schemaText, log, processes: settings.processes })
  // Requests that need no database are answered while it is still starting.
  const serving = await serve(config, { ...adapters, process: { vitals: vitals(), pool: member } }, settings)
  const { port } = serving
  log.info('listening', { host, port })

  let stoppingSince: number | undefined
  async function stop(reason: string, exitCode: number): Promise<void> {
    stoppingSince = performance.now()
    log.info('stopping', { reason })
    const outcome = await serving.stop(drainMs)
    await atMost(CLOSE_MS, adapters.close())
    log.info('stopped', { outcome })
    await lines.last()
    process.exit(exitCode)
  }
  function requestStop(signal: string): void {
    if (stoppingSince === undefined) stop(signal, 0)
    else if (performance.now() - stoppingSince > REPEATED_AFTER_MS) process.exit(1)
  }
  onStop(requestStop)
  const stopAlone = () => void (stoppingSince === undefined && stop('orphaned', 0))
  if (member) member.whenAlone(stopAlone)
  else if (process.env.npm_lifecycle_event) whenOrphaned(stopAlone)

  try {
    await adapters.ready
  } catch (error) {
    if (stoppingSince !== undefined) return
    process.stderr.write(refusal(error, settings.configPath))
    await stop('database', 1)
  }
  lines.flush()
  // In a group the leader prints the greeting.
  const setupToken = await serving.setupToken()
  if (member) member.ready(port, setupToken)
  else process.stdout.write(greeting({ host, port, config, newMasterKey, setupToken, isSample, dataFolder }))
}
