import cluster from 'node:cluster'
import { spareCollector } from './rim/collector.node.ts'
import { configPath, nodeSettings } from './rim/node-settings.node.ts'

// Whatever it writes is its own: the database, what waits for it, uploads on their way.
process.umask(0o077)
spareCollector()
try {
  const settings = nodeSettings(process.env)
  // Imported here: the leader of a group needs nothing of a gateway.
  if (settings.processes > 1 && cluster.isPrimary) {
    const { startGroup } = await import('./rim/start-group.node.ts')
    await startGroup(settings)
  } else {
    const { startGateway } = await import('./rim/start-gateway.node.ts')
    await startGateway(settings)
  }
} catch (error) {
  const { refusal } = await import('./rim/refusal.node.ts')
  process.stderr.write(refusal(error, configPath(process.env)))
  process.exit(1)
}
