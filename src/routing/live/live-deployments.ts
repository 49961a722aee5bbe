import type { Config } from '../../config/schema.ts'
import type { CredentialEntry, ModelEntry } from '../../config/sections/model-list.ts'
import { GatewayError } from '../../lib/errors.ts'
import { describeError, type Log } from '../../lib/log.ts'
import type { Seal } from '../../lib/sealing/seal.ts'
import type { Provider } from '../../providers/provider.ts'
import type { CredentialRecord, CredentialRecords } from '../../stores/sql/credential-records.ts'
import type { DrainedDeployments } from '../../stores/sql/drained-deployments.ts'
import type { ModelRecords } from '../../stores/sql/records/model-records.ts'
import { withCredential } from '../credential.ts'
import type { Deployment } from '../deployment.ts'
import { deploymentOf, deploymentsOf } from '../registry.ts'
import { credentialOf } from '../stored-credential.ts'
import { entryOf } from '../stored-model.ts'
import type { LivePart } from './live-part.ts'

/** The credentials of the database by name, as of the last reading. */
export type CredentialsByName = ReadonlyMap<string, CredentialEntry>

export interface LiveDeployments extends LivePart<readonly Deployment[]> {
  /** Why deployments are left out of the last reading, by their id. */
  leftOut(): ReadonlyMap<string, string>
  credentials(): CredentialsByName
}

/** The deployments of the file and of the database, which replace those of the same id. Those that name a credential have
 *  it from the database, the file's too. */
export function liveDeployments({
  config,
  providers,
  records,
  credentials: credentialRecords,
  drained,
  seal,
  log,
}: {
  readonly config: Config
  readonly providers: ReadonlyMap<string, Provider>
  readonly records: Pick<ModelRecords, 'all'>
  readonly credentials: Pick<CredentialRecords, 'all'>
  readonly drained: Pick<DrainedDeployments, 'all'>
  readonly seal: Seal
  readonly log: Log
}): LiveDeployments {
  const ofFile = deploymentsOf(config, providers)
  const complete = new Map(ofFile.map((deployment) => [deployment.id, deployment]))
  const waiting = config.model_list.filter(({ deployment_id: id }) => !complete.has(id))
  let leftOut: ReadonlyMap<string, string> = new Map(
    waiting.map(({ deployment_id }) => [deployment_id, 'The credential that it names was not read yet.']),
  )
  let credentials: CredentialsByName = new Map()

  async function credentialsFrom(found: readonly CredentialRecord[]): Promise<CredentialsByName> {
    const opened = await Promise.all(
      found.map((record) =>
        credentialOf(record, seal).catch((error) => {
          log.error('registry.record_left_out', { credential: record.name, error: describeError(error) })
          return undefined
        }),
      ),
    )
    return new Map(opened.flatMap((one) => (one ? [[one.name, one] as const] : [])))
  }

  return {
    ofFile,
    leftOut: () => leftOut,
    credentials: () => credentials,
    async read() {
      const [kept, out, held] = await Promise.all([records.all(), drained.all(), credentialRecords.all()])
      const known = await credentialsFrom(held)
      const problems = new Map<string, string>()
      const made = async (id: string, entry: () => ModelEntry | Promise<ModelEntry>) => {
        try {
          const own = await entry()
          return deploymentOf(withCredential(own, known.get(own.gateway_params.credential ?? '')), providers)
        } catch (error) {
          const why = describeError(error)
          problems.set(id, error instanceof GatewayError ? error.message : why)
          log.error('registry.record_left_out', { deployment: id, error: why })
          return undefined
        }
      }
      const stored = await Promise.all(kept.map((record) => made(record.deployment_id, () => entryOf(record, seal))))
      // One that is not valid leaves its place to the file's.
      const replaced = new Set(stored.map((deployment) => deployment?.id))
      const filed = await Promise.all(
        config.model_list
          .filter(({ deployment_id: id }) => !replaced.has(id))
          .map((entry) => complete.get(entry.deployment_id) ?? made(entry.deployment_id, () => entry)),
      )
      leftOut = problems
      credentials = known
      return [...filed, ...stored]
        .filter((deployment) => deployment !== undefined)
        .map((one): Deployment => (out.has(one.id) ? { ...one, drained: true } : one))
    },
  }
}
