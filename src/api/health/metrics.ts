import { paced } from '../../lib/paced.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { families } from '../../telemetry/metrics/families.ts'
import { gauges, storeState, waitingRecords } from '../../telemetry/metrics/gauges.ts'
import { metrics } from '../../telemetry/metrics/index.ts'
import { render } from '../../telemetry/metrics/render.ts'
import { topics } from '../../telemetry/topics.ts'
import { text } from '../respond.ts'
import { defineRoute } from '../route.ts'
import type { ApiServices } from '../scope.ts'

export const metricsPage = defineRoute(
  {
    method: 'get',
    path: '/metrics',
    summary: 'Metrics in the Prometheus text format.',
    tag: 'Health',
    auth: 'public',
    responses: { 200: { description: 'The metrics.', contentType: 'text/plain; version=0.0.4' } },
  },
  async ({ services }) => text(await page(services), 'text/plain; version=0.0.4; charset=utf-8'),
)

const page = paced(async (services: ApiServices): Promise<string> => {
  const [counted, signals] = await Promise.all([services.counted(), deploymentSignals(services)])
  return render([
    ...families(metrics, counted),
    ...gauges(signals, services.clock.now()),
    storeState(services.store.mode()),
    ...waitingRecords(
      services.delivery.depth,
      topics.map(({ name }) => name),
    ),
  ])
})

/** The page is served without the store, too: then without what only the store knows. */
async function deploymentSignals({ registry, store }: ApiServices): Promise<DeploymentSignals[]> {
  const ids = registry.groups.flatMap((group) => group.deployments.map(({ id }) => id))
  return store.signals(ids).catch(() => [])
}
