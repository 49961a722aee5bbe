import { GatewayError } from '../../lib/errors.ts'

export function blobsUnavailable(cause: unknown): GatewayError {
  return new GatewayError('blobs_unavailable', 'The storage of files is unavailable. Retry later.', {
    cause,
  })
}
