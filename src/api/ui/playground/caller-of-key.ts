import * as z from 'zod'
import { missingPermission, reachWithOwn } from '../../../identity/grants.ts'
import { asGatewayError, GatewayError } from '../../../lib/errors.ts'
import type { Caller } from '../../../pipeline/caller.ts'
import type { Scope } from '../../scope.ts'
import { storable } from '../../storable.ts'

export const keyQuery = () => z.object({ key_id: storable().min(1).max(256).describe('The key that calls.') })

/** The key that a person calls as: one of theirs, or one that they may change. */
export async function callerOfKey(scope: Scope, keyId: string): Promise<Caller> {
  const { records, keyCallers } = scope.services
  const { keys } = records
  const caller = scope.caller()
  if (!(await keys.find(keyId, reachWithOwn(caller, 'key.update')))) {
    if (await keys.find(keyId, reachWithOwn(caller, 'key.read'))) throw missingPermission('key.update')
    throw new GatewayError('not_found', 'There is no such key.', { param: 'key_id' })
  }
  try {
    return await keyCallers.find(keyId, scope.address)
  } catch (error) {
    throw asUnusableKey(error)
  }
}

/** The same, read from the database, for requests without an admission that would check the cached caller. */
export async function currentCallerOfKey(scope: Scope, keyId: string): Promise<Caller> {
  const caller = await callerOfKey(scope, keyId)
  try {
    return await caller.again(scope.address)
  } catch (error) {
    throw asUnusableKey(error)
  }
}

/** The session is valid; it is the key that is not. */
export function asUnusableKey(thrown: unknown): GatewayError {
  const error = asGatewayError(thrown)
  if (error.failure !== 'authentication') return error
  const [code, why] =
    error.code === 'expired_api_key'
      ? ['key_expired', 'has expired']
      : ['key_revoked', 'is revoked, or its owner disabled']
  return new GatewayError('conflict', `This key ${why}. Choose another one.`, { param: 'key_id', code })
}
