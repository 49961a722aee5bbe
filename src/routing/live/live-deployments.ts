import type { Config } from '../../config/schema.ts'
import { describeError, type Log } from '../../lib/log.ts'
import type { Seal } from '../../lib/seal.ts'
import type { Provider } from '../../providers/provider.ts'
import type { DrainedDeployments } from '../../stores/sql/drained-deployments.ts'
import type { ModelRecord, ModelRecords } from '../../stores/sql/records/model-records.ts'
import type { Deployment } from '../deployment.ts'
import { deploymentOf, deploymentsOf } from '../registry.ts'
import { entryOf } from '../stored-model.ts'
import type { LivePart } from './live-part.ts'

/** The deployments of the file and of the database, which replace those of the same id. */
export function liveDeployments({
  config,
  providers,
  records,
  drained,
  seal,
  log,
}: {
  readonly config: Config
  readonly providers: ReadonlyMap<string, Provider>
  readonly records: Pick<ModelRecords, 'all'>
  readonly drained: Pick<DrainedDeployments, 'all'>
  readonly seal: Seal
  readonly log: Log
}): LivePart<readonly Deployment[]> {
  const ofFile = deploymentsOf(config, providers)

  async function deploymentFrom(record: ModelRecord): Promise<Deployment | undefined> {
    try {
      return deploymentOf(await entryOf(record, seal), providers)
    } catch (error) {
      log.error('registry.record_left_out', { deployment: record.deployment_id, error: describeError(error) })
      return undefined
    }
  }

  return {
    ofFile,
    async read() {
      const [kept, out] = await Promise.all([records.all(), drained.all()])
      const found = await Promise.all(kept.map(deploymentFrom))
      const stored = found.filter((deployment) => deployment !== undefined)
      const replaced = new Set(stored.map(({ id }) => id))
      const all = [...ofFile.filter(({ id }) => !replaced.has(id)), ...stored]
      return all.map((one): Deployment => (out.has(one.id) ? { ...one, drained: true } : one))
    },
  }
}
