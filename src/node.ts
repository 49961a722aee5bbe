import cluster from 'node:cluster'
import { spareCollector } from './rim/collector.node.ts'
import { configPath, nodeSettings } from './rim/node-settings.node.ts'
import { refusal } from './rim/refusal.node.ts'
import { startGateway } from './rim/start-gateway.node.ts'
import { startGroup } from './rim/start-group.node.ts'

spareCollector()
try {
  const settings = nodeSettings(process.env)
  if (settings.processes > 1 && cluster.isPrimary) await startGroup(settings)
  else await startGateway(settings)
} catch (error) {
  process.stderr.write(refusal(error, configPath(process.env)))
  process.exit(1)
}
