import { type Abort, asAbortSignal } from '../../lib/abort.ts'
import type { Outgoing } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import type { Attempt, Call } from '../call.ts'
import { asRequestFailure } from '../failures.ts'
import { countingHops } from '../request/hops.ts'
import { traceOf } from '../request/trace.ts'
import type { PipelineServices } from '../services.ts'
import type { Translator } from '../translate/translator.ts'

/** Builds the authorized upstream request of an attempt. */
export function requestOf(
  services: PipelineServices,
  { provider, connection: own }: Deployment,
  hops: number,
  translator: Translator,
  asked: Outgoing,
  ended: Abort,
): UpstreamRequest | Promise<UpstreamRequest> {
  const connection = countingHops(own, hops)
  try {
    const request = translator.request(asked, connection)
    if (!provider.authorize && !(request instanceof Promise)) return request
    return authorized(services, { provider, connection }, request, ended)
  } catch (error) {
    throw asRequestFailure(error)
  }
}

async function authorized(
  { transport, clock }: PipelineServices,
  { provider, connection }: Pick<Deployment, 'provider' | 'connection'>,
  requesting: UpstreamRequest | Promise<UpstreamRequest>,
  ended: Abort,
): Promise<UpstreamRequest> {
  let request: UpstreamRequest
  try {
    request = await requesting
  } catch (error) {
    throw asRequestFailure(error)
  }
  if (!provider.authorize) return request
  return provider.authorize(request, connection, { transport, signal: asAbortSignal(ended), now: clock.now() })
}

/** The request with the header by which the provider continues the call's trace, if traces are exported. It is added
 *  after the request was signed: no signature covers it. */
export function withTraceparent(
  { telemetry }: PipelineServices,
  { id, request: asked, traceparent, attempts }: Call,
  tried: Attempt,
  request: UpstreamRequest,
): UpstreamRequest {
  if (!telemetry.traceparent) return request
  const header = telemetry.traceparent(id, traceOf(asked, traceparent), attempts.indexOf(tried))
  return { ...request, headers: { ...request.headers, traceparent: header } }
}
