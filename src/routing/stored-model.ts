import { accepted, mistake } from '../config/accepted.ts'
import { isMap } from '../config/fields.ts'
import type { CredentialEntry, ModelEntry } from '../config/sections/model-list.ts'
import type { Seal } from '../lib/sealing/seal.ts'
import type { CredentialRecords } from '../stores/sql/credential-records.ts'
import type { ModelContent, ModelRecord } from '../stores/sql/records/model-records.ts'
import { refuseReferences, type Sealed, type Settings, sealedSettings } from '../stores/sql/records/sealed-settings.ts'
import { modelEntry } from './configuration.ts'
import { withCredential } from './credential.ts'
import { addressOf, SECRET_MAPS, SECRET_PARAMETERS } from './secret-parameters.ts'
import { credentialOf } from './stored-credential.ts'

const SECRETS = sealedSettings({
  table: 'gateway_model',
  column: 'gateway_params',
  fields: SECRET_PARAMETERS,
  maps: SECRET_MAPS,
  addressOf,
})

/** An unchecked deployment with the sections of an entry of the configuration file. */
export interface ModelDraft {
  readonly model_name?: unknown
  readonly gateway_params?: unknown
  readonly model_info?: unknown
}

/** The entry of a record, with its own secrets. Throws if it is not valid in this build. */
export async function entryOf(record: ModelRecord, seal: Seal): Promise<ModelEntry> {
  const gateway_params = await SECRETS.open(sealedOf(record), seal)
  const { deployment_id, model_name, model_info } = record
  return { ...accepted(modelEntry(), { model_name, gateway_params, model_info }), deployment_id }
}

interface Context {
  readonly seal: Seal
  readonly records: { readonly credentials: Pick<CredentialRecords, 'find'> }
  /** Throws if an entry cannot be a deployment of this build. */
  readonly live: { check(entry: ModelEntry): void }
}

/** The entry that a draft would be, with its secrets or those of its credential, and its stored settings unmasked. Refuses
 *  as `contentOf` does. */
export async function entryOfDraft(
  id: string,
  draft: ModelDraft,
  context: Context,
  earlier?: ModelRecord,
): Promise<{ readonly entry: ModelEntry; readonly params: Settings }> {
  const sent = isMap(draft.gateway_params) ? draft.gateway_params : {}
  refuseReferences(draft)
  const params = await SECRETS.whole(sent, context.seal, earlier && sealedOf(earlier))
  const own = {
    ...accepted(modelEntry(), {
      ...draft,
      gateway_params: isMap(draft.gateway_params) ? params : draft.gateway_params,
    }),
    deployment_id: id,
  }
  const { credential } = own.gateway_params
  const entry = credential === undefined ? own : withCredential(own, await find(credential, context))
  try {
    context.live.check(entry)
  } catch (error) {
    throw error instanceof TypeError ? mistake('gateway_params', error.message) : error
  }
  return { entry, params }
}

/** The stored form of a draft. Throws a refusal of its first mistake. Masks in it stand for secrets of `earlier`, which
 *  are refused for another address than the one that they were given for. */
export async function contentOf(
  id: string,
  draft: ModelDraft,
  context: Context,
  earlier?: ModelRecord,
): Promise<ModelContent> {
  const { entry, params } = await entryOfDraft(id, draft, context, earlier)
  const { settings, sealed } = await SECRETS.close(id, params, context.seal)
  return {
    model_name: entry.model_name,
    gateway_params: settings,
    model_info: isMap(draft.model_info) ? draft.model_info : {},
    sealed,
    credential: typeof params.credential === 'string' ? params.credential : null,
  }
}

async function find(name: string, { records, seal }: Context): Promise<CredentialEntry | undefined> {
  const record = await records.credentials.find(name)
  if (!record) return undefined
  try {
    return await credentialOf(record, seal)
  } catch {
    throw mistake('gateway_params.credential', `names '${name}', which cannot be opened; send its secrets again`)
  }
}

type SealedModel = Pick<ModelRecord, 'deployment_id' | 'gateway_params' | 'sealed'>

/** Where the secrets of a model belong. */
export const placeOfModel = (record: SealedModel): string => SECRETS.placeOf(sealedOf(record))

function sealedOf({ deployment_id, gateway_params, sealed }: SealedModel): Sealed {
  return { id: deployment_id, settings: gateway_params, sealed }
}
