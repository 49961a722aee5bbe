import { GatewayError } from '../../lib/errors.ts'

export function blobsUnavailable(cause: unknown): GatewayError {
  return new GatewayError('blobs_unavailable', 'The storage of files is away, and this needs it. Retry later.', {
    cause,
  })
}
