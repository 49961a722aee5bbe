import type { UpstreamRequest } from '../../../transport/transport.ts'
import type { Connection } from '../../provider.ts'

/** A health request that reads a path of the vendor's API. */
export const healthRequestAt =
  (path: string) =>
  ({ origin, basePath, headers }: Connection): UpstreamRequest => ({
    method: 'GET',
    origin,
    path: `${basePath}${path}`,
    headers,
  })
