import cluster from 'node:cluster'
import { setImmediate as turn } from 'node:timers/promises'
import { jsonLog } from '../../../lib/log.ts'
import { nodeConfig } from '../setup/config.node.ts'
import type { NodeSettings } from '../setup/settings.node.ts'
import { requireSharedStores } from '../setup/shareable.node.ts'
import { greeting } from './greeting.node.ts'
import { lineWriter } from './line-writer.node.ts'
import { leadGroup } from './process-group.node.ts'
import { whenOrphaned } from './when-orphaned.node.ts'

/** Starts several processes of the gateway that share a port. This process leads them and serves no requests itself. */
export async function startGroup({ configPath, dataFolder, host, processes }: NodeSettings): Promise<void> {
  const { config, newMasterKey, isSample } = nodeConfig(configPath, dataFolder, process.env)
  requireSharedStores(config, processes)
  const lines = lineWriter(process.stdout)
  process.on('exit', lines.flush)
  // The outputs of members are read here, so that their lines stay whole.
  cluster.setupPrimary({ stdio: ['inherit', 'pipe', 'inherit', 'ipc'] })
  if (process.env.npm_lifecycle_event) whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))
  const exitCode = await leadGroup({
    count: processes,
    log: jsonLog(config.general_settings.log_level, lines.write),
    output: process.stdout,
    async onReady(port, setupToken) {
      // What members wrote before they were ready is read in this turn of the event loop.
      await turn()
      lines.flush()
      process.stdout.write(greeting({ host, port, config, newMasterKey, setupToken, isSample, dataFolder, processes }))
    },
  })
  await lines.last()
  process.exit(exitCode)
}
