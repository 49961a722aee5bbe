import { sameSecret } from '../lib/crypto.ts'
import { GatewayError } from '../lib/errors.ts'
import { reveal, type Secret } from '../lib/secret.ts'
import type { Caller } from '../pipeline/caller.ts'
import { masterCaller } from './master-caller.ts'

/** A credential that no client could mean, refused before any work is done for it. */
const LONGEST_CREDENTIAL = 4096

/** Turns a bearer credential into a caller. Every way in goes through here. */
export function identify(credential: string | undefined, masterKey: Secret | undefined): Caller {
  if (credential === undefined || credential === '') {
    throw new GatewayError('authentication', 'No API key. Send the header "Authorization: Bearer <key>".', {
      code: 'missing_api_key',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  if (masterKey && credential.length <= LONGEST_CREDENTIAL && sameSecret(credential, reveal(masterKey))) {
    return masterCaller
  }
  throw new GatewayError('authentication', 'The API key is not valid.', {
    code: 'invalid_api_key',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
