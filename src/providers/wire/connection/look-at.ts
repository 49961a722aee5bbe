import type { UpstreamRequest } from '../../../transport/transport.ts'
import type { Connection } from '../../provider.ts'

/** Reads a path of the vendor's API. */
export const lookAt =
  (path: string) =>
  ({ origin, basePath, headers }: Connection): UpstreamRequest => ({
    method: 'GET',
    origin,
    path: `${basePath}${path}`,
    headers,
  })
