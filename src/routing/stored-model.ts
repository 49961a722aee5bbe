import { accepted, mistake } from '../config/accepted.ts'
import { isMap } from '../config/fields.ts'
import type { ModelEntry } from '../config/sections/model-list.ts'
import type { Seal } from '../lib/seal.ts'
import type { ModelContent, ModelRecord } from '../stores/sql/records/model-records.ts'
import { refuseReferences, type Sealed, type Settings, sealedSettings } from '../stores/sql/records/sealed-settings.ts'
import { modelEntry } from './configuration.ts'

/** The parameters of a deployment that are kept sealed and are never shown. */
export const SECRET_PARAMETERS: readonly string[] = ['api_key', 'aws_secret_access_key', 'aws_session_token']

const SECRETS = sealedSettings({
  table: 'gateway_model',
  column: 'gateway_params',
  fields: SECRET_PARAMETERS,
  maps: ['headers'],
  addressOf,
})

/** An unchecked deployment with the sections of an entry of the configuration file. */
export interface ModelDraft {
  readonly model_name?: unknown
  readonly gateway_params?: unknown
  readonly model_info?: unknown
}

/** The entry of a record, with its secrets. Throws if it is not valid in this build. */
export async function entryOf(record: ModelRecord, seal: Seal): Promise<ModelEntry> {
  const gateway_params = await SECRETS.open(sealedOf(record), seal)
  const { deployment_id, model_name, model_info } = record
  return { ...accepted(modelEntry(), { model_name, gateway_params, model_info }), deployment_id }
}

interface Context {
  readonly seal: Seal
  /** Throws if an entry cannot be a deployment of this build. */
  readonly live: { check(entry: ModelEntry): void }
}

/** The entry that a draft would be, with its secrets and its stored settings unmasked. Refuses as `contentOf` does. */
export async function entryOfDraft(
  id: string,
  draft: ModelDraft,
  { seal, live }: Context,
  earlier?: ModelRecord,
): Promise<{ readonly entry: ModelEntry; readonly params: Settings }> {
  const sent = isMap(draft.gateway_params) ? draft.gateway_params : {}
  refuseReferences(draft)
  const params = await SECRETS.whole(sent, seal, earlier && sealedOf(earlier))
  const entry = {
    ...accepted(modelEntry(), {
      ...draft,
      gateway_params: isMap(draft.gateway_params) ? params : draft.gateway_params,
    }),
    deployment_id: id,
  }
  try {
    live.check(entry)
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
  }
}

function sealedOf({ deployment_id, gateway_params, sealed }: ModelRecord): Sealed {
  return { id: deployment_id, settings: gateway_params, sealed }
}

function addressOf({ provider, model, api_base }: Settings): string {
  const kind = typeof provider === 'string' ? provider : String(model).split('/')[0]
  const origin = typeof api_base === 'string' ? (URL.parse(api_base)?.origin ?? api_base) : ''
  return JSON.stringify([kind, origin])
}
