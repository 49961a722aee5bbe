import { type Abort, asAbortSignal } from '../../lib/abort.ts'
import type { Outgoing } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import type { Attempt, Call } from '../call.ts'
import { asRequestFailure } from '../failures.ts'
import { traceOf } from '../request/trace.ts'
import type { PipelineServices } from '../services.ts'
import type { Translator } from '../translate/translator.ts'

/** The parts of an exchange that its request depends on. */
interface Requesting {
  readonly services: PipelineServices
  readonly call: Call
  readonly tried: Attempt
  readonly ended: Abort
}

/** Builds the authorized upstream request of an attempt. */
export function requestOf(
  { services, tried, ended }: Requesting,
  translator: Translator,
  asked: Outgoing,
): UpstreamRequest | Promise<UpstreamRequest> {
  const { provider, connection } = tried.deployment
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
  { services: { telemetry }, call, tried }: Requesting,
  request: UpstreamRequest,
): UpstreamRequest {
  const { id, request: asked, traceparent, attempts } = call
  if (!telemetry.traceparent) return request
  const header = telemetry.traceparent(id, traceOf(asked, traceparent), attempts.indexOf(tried))
  return { ...request, headers: { ...request.headers, traceparent: header } }
}
