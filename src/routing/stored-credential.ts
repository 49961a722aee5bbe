import { accepted } from '../config/accepted.ts'
import type { CredentialEntry } from '../config/sections/model-list.ts'
import type { Seal } from '../lib/sealing/seal.ts'
import type { CredentialContent, CredentialRecord } from '../stores/sql/credential-records.ts'
import { refuseReferences, type Sealed, type Settings, sealedSettings } from '../stores/sql/records/sealed-settings.ts'
import { credentialEntry } from './configuration.ts'
import { checkCredential } from './credential.ts'
import { addressOf, SECRET_MAPS, SECRET_PARAMETERS } from './secret-parameters.ts'

const SECRETS = sealedSettings({
  table: 'gateway_credential',
  column: 'gateway_params',
  fields: SECRET_PARAMETERS,
  maps: SECRET_MAPS,
  addressOf,
})

export interface CredentialDraft {
  readonly provider: string
  readonly gateway_params: Settings
}

/** A stored credential with its secrets. Throws if it is not valid in this build. */
export async function credentialOf(record: CredentialRecord, seal: Seal): Promise<CredentialEntry> {
  const { name, provider } = record
  const { provider: _, ...gateway_params } = await SECRETS.open(sealedOf(record), seal)
  return accepted(credentialEntry(), { name, provider, gateway_params })
}

/** The stored form of a draft, and the credential that it is. Throws a refusal of its first mistake. Masks in it stand
 *  for secrets of `earlier`, which are refused for another provider or address. */
export async function credentialOfDraft(
  name: string,
  { provider, gateway_params: sent }: CredentialDraft,
  seal: Seal,
  now: number,
  earlier?: CredentialRecord,
): Promise<{ readonly credential: CredentialEntry; readonly content: CredentialContent }> {
  refuseReferences(sent, 'gateway_params')
  const kept = earlier && sealedOf(earlier)
  const whole = await SECRETS.whole({ ...sent, provider }, seal, kept)
  const { provider: _, ...gateway_params } = whole
  const credential = accepted(credentialEntry(), { name, provider, gateway_params })
  checkCredential(credential)
  const { settings, sealed } = await SECRETS.close(name, whole, seal)
  const { provider: __, ...masked } = settings
  const before = kept && (await SECRETS.open(kept, seal).catch(() => undefined))
  const isSame = before && secretsIn(before) === secretsIn(whole)
  const rotated_at = isSame && earlier ? earlier.rotated_at : new Date(now).toISOString()
  return { credential, content: { provider, gateway_params: masked, sealed, rotated_at } }
}

function secretsIn(settings: Settings): string {
  return JSON.stringify(
    [...SECRET_PARAMETERS, ...SECRET_MAPS, 'aws_access_key_id'].map((name) => settings[name] ?? null),
  )
}

type SealedCredential = Pick<CredentialRecord, 'name' | 'provider' | 'gateway_params' | 'sealed'>

/** Where the secrets of a credential belong. */
export const placeOfCredential = (record: SealedCredential): string => SECRETS.placeOf(sealedOf(record))

/** The provider is a part of the address that its secrets are sealed for. */
function sealedOf({ name, provider, gateway_params, sealed }: SealedCredential): Sealed {
  return { id: name, settings: { ...gateway_params, provider }, sealed }
}
