#!/usr/bin/env -S node --max-semi-space-size=16
import cluster from 'node:cluster'
import * as module from 'node:module'
import { spareCollector } from './runtimes/node/process/collector.node.ts'
import { tooOld } from './runtimes/node/process/version.node.ts'
import { configPath, nodeSettings } from './runtimes/node/setup/settings.node.ts'

const objection = tooOld(process.versions.node)
if (objection !== undefined) {
  process.stderr.write(objection)
  process.exit(1)
}
module.enableCompileCache()
const words = process.argv.slice(2)
if (words.length > 0) {
  const { commandLine } = await import('./runtimes/node/process/command-line.node.ts')
  process.exit(commandLine(words, process.env))
}
// If the reader of standard output closes it, calls continue without log lines.
process.stdout.on('error', () => {})
// Whatever it writes is its own: the database, what waits for it, uploads on their way.
process.umask(0o077)
spareCollector()
try {
  const settings = nodeSettings(process.env)
  // Imported here: the leader of a group needs nothing of a gateway.
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
