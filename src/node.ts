#!/usr/bin/env -S node --max-semi-space-size=32
import cluster from 'node:cluster'
import * as module from 'node:module'
import { spareCollector } from './runtimes/node/process/collector.node.ts'
import { endWhileLoading } from './runtimes/node/process/stop-signals.node.ts'
import { unsupportedNode } from './runtimes/node/process/version.node.ts'
import { configPath, nodeSettings } from './runtimes/node/setup/settings.node.ts'

const unsupported = unsupportedNode(process.versions.node)
if (unsupported !== undefined) {
  process.stderr.write(unsupported)
  process.exit(1)
}
endWhileLoading()
// Half of these threads at most look names up, each until the system gives up a name whose servers are silent.
process.env.UV_THREADPOOL_SIZE ??= '16'
module.enableCompileCache()
const operands = process.argv.slice(2)
if (operands.length > 0) {
  const { commandLine } = await import('./runtimes/node/process/command-line.node.ts')
  process.exit(await commandLine(operands, process.env))
}
// If the reader of standard output closes it, calls continue without log lines.
process.stdout.on('error', () => {})
// Only the owner may read the files of this process: the database, the backlog, uploads.
process.umask(0o077)
spareCollector()
try {
  const settings = nodeSettings(process.env)
  // Imported on demand: the leader of a group does not need the gateway's modules.
  if (settings.processes > 1 && cluster.isPrimary) {
    const { startGroup } = await import('./runtimes/node/process/start-group.node.ts')
    await startGroup(settings)
  } else {
    const { startGateway } = await import('./runtimes/node/process/start-gateway.node.ts')
    await startGateway(settings)
  }
} catch (error) {
  const { refusal } = await import('./runtimes/node/process/refusal.node.ts')
  process.stderr.write(refusal(error, configPath(process.env)))
  process.exit(1)
}
