import { secretMatcher } from '../lib/crypto.ts'
import { GatewayError } from '../lib/errors.ts'
import { reveal, type Secret } from '../lib/secret.ts'
import type { Caller } from '../pipeline/caller.ts'
import type { FailedAttempts } from './failed-attempts.ts'
import { type MasterKeys, masterCaller } from './master-caller.ts'
import { refusal } from './refusal.ts'

/** Longer credentials are refused unread. */
const LONGEST_CREDENTIAL = 4096

/** Turns a credential into a caller, or throws. Every request is authenticated by it. */
export type Identify = (credential: string | undefined, address: string) => Caller | Promise<Caller>

export function identification(
  masterKeys: MasterKeys,
  apiKeys: (key: string, address: string) => Caller | Promise<Caller>,
  attempts: FailedAttempts,
): Identify {
  const isMasterKey = matcher(masterKeys.now)
  const isPrevious = matcher(masterKeys.previous)
  const find: Identify = (credential, address) => {
    if (credential === undefined || credential === '') {
      throw refusal('missing_api_key', 'No API key. Send the header "Authorization: Bearer <key>".')
    }
    if (credential.length > LONGEST_CREDENTIAL) throw refusal('invalid_api_key', 'The API key is not valid.')
    if (isMasterKey(credential)) return masterCaller
    if (isPrevious(credential)) {
      masterKeys.previousUsed()
      return masterCaller
    }
    return apiKeys(credential, address)
  }
  const counted = (error: unknown, address: string): unknown => {
    if (!(error instanceof GatewayError) || error.failure !== 'authentication') return error
    return attempts.failed(address) ?? error
  }
  return (credential, address) => {
    try {
      const found = find(credential, address)
      if (!(found instanceof Promise)) return found
      return found.catch((error) => {
        throw counted(error, address)
      })
    } catch (error) {
      throw counted(error, address)
    }
  }
}

const matcher = (key: Secret | undefined) => (key ? secretMatcher(reveal(key)) : () => false)
