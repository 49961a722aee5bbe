import cluster from 'node:cluster'
import { spareCollector } from './rim/collector.node.ts'
import { cacheCompiled } from './rim/compile-cache.node.ts'
import { configPath, nodeSettings } from './rim/node-settings.node.ts'

spareCollector()
try {
  const settings = nodeSettings(process.env)
  cacheCompiled(settings.dataFolder)
  // Imported here, for only what comes after the cache is kept in it.
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
