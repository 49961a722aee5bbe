import { secretMatcher } from '../lib/crypto.ts'
import { reveal, type Secret } from '../lib/secret.ts'
import type { Caller } from '../pipeline/caller.ts'
import { masterCaller } from './master-caller.ts'
import { refusal } from './refusal.ts'

/** A credential that no client could mean, refused before any work is done for it. */
const LONGEST_CREDENTIAL = 4096

/** Turns a credential into a caller, or throws. Every way in goes through it. */
export type Identify = (credential: string | undefined, address: string) => Caller | Promise<Caller>

export function identification(
  masterKey: Secret | undefined,
  apiKeys: (key: string, address: string) => Caller | Promise<Caller>,
): Identify {
  const isMasterKey = masterKey ? secretMatcher(reveal(masterKey)) : () => false
  return (credential, address) => {
    if (credential === undefined || credential === '') {
      throw refusal('missing_api_key', 'No API key. Send the header "Authorization: Bearer <key>".')
    }
    if (credential.length > LONGEST_CREDENTIAL) throw refusal('invalid_api_key', 'The API key is not valid.')
    if (isMasterKey(credential)) return masterCaller
    return apiKeys(credential, address)
  }
}
