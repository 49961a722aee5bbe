import type { Config } from '../../../config/schema.ts'
import { GatewayError } from '../../../lib/errors.ts'
import type { Creation } from '../../../stores/sql/batches/batch-records.ts'

/** The new batch, or the earlier one of the same idempotency key. Throws the refusal if there is neither. */
export function requireCreated(
  creation: Creation,
  fileId: string,
  { general_settings: { batch_max_active: most } }: Config,
): Extract<Creation, { readonly earlier: boolean }> {
  if ('batch' in creation) return creation
  const ofFile = { param: 'input_file_id' }
  const file = `The file '${fileId.slice(0, 200)}'`
  switch (creation.refused) {
    case 'another_request':
      throw new GatewayError('conflict', 'This Idempotency-Key was already used for a batch with another body.', {
        param: 'Idempotency-Key',
        code: 'idempotency_key_reused',
      })
    case 'no_file':
      throw new GatewayError('not_found', `${file} does not exist or has expired.`, {
        ...ofFile,
        code: 'file_not_found',
      })
    case 'another_purpose':
      throw new GatewayError('invalid_request', `${file} was not uploaded with the purpose 'batch'.`, {
        ...ofFile,
        code: 'invalid_file_purpose',
      })
    case 'managed_tools': {
      const message = `Line ${creation.line} of the file asks for managed tools (type 'mcp' in body.tools), which batches do not have.`
      throw new GatewayError('invalid_request', message, { ...ofFile, code: 'managed_tools_not_supported' })
    }
    case 'repeated_before': {
      const message = `The failed requests of this batch were run again by ${creation.by}. Repeat what has failed there.`
      throw new GatewayError('conflict', message, { code: 'batch_repeated_before' })
    }
    case 'too_many_active': {
      const message = `The owner has ${most} batches that have not ended, and may not have more. Wait for one, or cancel one.`
      throw new GatewayError('rate_limited', message, { code: 'too_many_active_batches' })
    }
  }
}
