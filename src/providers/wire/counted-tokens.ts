import { GatewayError } from '../../lib/errors.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import { usageOf } from '../../modes/usage.ts'
import type { Reply } from '../provider.ts'

/** An answer that counts tokens, relayed as it is. Counting them is free. */
export function countedTokens(bytes: Uint8Array, member: string): Reply {
  if (typeof parseRecord(bytes)?.[member] !== 'number') {
    throw new GatewayError('upstream_malformed', `The provider's answer has no '${member}'.`)
  }
  return { bytes, contentType: 'application/json', usage: usageOf({}), outputCharacters: 0 }
}
