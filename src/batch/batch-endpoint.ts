import type { GatewayError } from '../lib/errors.ts'
import type { Endpoint } from '../pipeline/endpoint.ts'

/** An endpoint whose requests can be batched. */
export interface BatchEndpoint {
  readonly endpoint: Endpoint
  /** The body of a failure, as a client of the endpoint gets it. */
  failureBody(error: GatewayError, requestId: string): object
}

/** All of them, by path. */
export type BatchEndpoints = ReadonlyMap<string, BatchEndpoint>
