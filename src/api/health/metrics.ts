import { refusal } from '../../identity/refusal.ts'
import { secretMatcher } from '../../lib/crypto.ts'
import { paced } from '../../lib/paced.ts'
import { reveal, type Secret } from '../../lib/secret.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import { families } from '../../telemetry/metrics/families.ts'
import { activeBatches, gauges } from '../../telemetry/metrics/gauges.ts'
import { processFamilies } from '../../telemetry/metrics/process-gauges.ts'
import { render } from '../../telemetry/metrics/render.ts'
import { bearerOf } from '../middleware/bearer.ts'
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
  async ({ services, header }) => {
    requireToken(services.config.general_settings.metrics_token, header('authorization'))
    return text(await page(services), 'text/plain; version=0.0.4; charset=utf-8')
  },
)

function requireToken(token: Secret | undefined, authorization: string | undefined): void {
  if (!token) return
  const given = bearerOf(authorization)
  if (given === undefined)
    throw refusal('missing_api_key', 'The metrics need their token. Send the header "Authorization: Bearer <token>".')
  if (!secretMatcher(reveal(token))(given)) throw refusal('invalid_api_key', 'The token is not valid for the metrics.')
}

/** How long the page waits for the database. */
const DATABASE_MS = 1000

const page = paced(async (services: ApiServices): Promise<string> => {
  const [measured, signals, active] = await Promise.all([
    services.measured(),
    deploymentSignals(services),
    batchesOf(services),
  ])
  return render([
    // Left out while nobody knows them: from 0 they would seem to have grown again.
    ...(measured.counters ? families(services.metrics, measured.counters) : []),
    ...gauges(signals, services.clock.now()),
    ...activeBatches(active),
    ...processFamilies(measured.gauges),
  ])
})

/** undefined where batches are off, and where the database is away: the page is served without them. */
async function batchesOf({ config, records }: ApiServices): Promise<number | undefined> {
  if (!config.general_settings.embeddings_batch_enabled) return undefined
  const looked = await atMost(DATABASE_MS, records.batchItems.outlook()).catch(() => undefined)
  return looked?.value.active
}

/** No signals where the store is away: the page is served without them. */
async function deploymentSignals({ registry, store }: ApiServices): Promise<DeploymentSignals[]> {
  const ids = registry.groups.flatMap((group) => group.deployments.map(({ id }) => id))
  return store.signals(ids).catch(() => [])
}
