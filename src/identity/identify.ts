import { secretMatcher } from '../lib/crypto.ts'
import { GatewayError } from '../lib/errors.ts'
import { reveal, type Secret } from '../lib/secret.ts'
import type { Caller } from '../pipeline/caller.ts'
import { masterCaller } from './master-caller.ts'

/** A credential that no client could mean, refused before any work is done for it. */
const LONGEST_CREDENTIAL = 4096

/** Turns a credential into a caller, or throws. Every way in goes through it. */
export type Identify = (credential: string | undefined) => Caller

export function identification(masterKey: Secret | undefined): Identify {
  const isMasterKey = masterKey ? secretMatcher(reveal(masterKey)) : () => false
  return (credential) => {
    if (credential === undefined || credential === '') {
      throw refusal('missing_api_key', 'No API key. Send the header "Authorization: Bearer <key>".')
    }
    if (credential.length <= LONGEST_CREDENTIAL && isMasterKey(credential)) return masterCaller
    throw refusal('invalid_api_key', 'The API key is not valid.')
  }
}

function refusal(code: string, message: string): GatewayError {
  return new GatewayError('authentication', message, { code, headers: { 'www-authenticate': 'Bearer' } })
}
