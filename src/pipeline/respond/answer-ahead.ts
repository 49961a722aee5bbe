import { asGatewayError, type GatewayError } from '../../lib/errors.ts'
import { describeError } from '../../lib/log.ts'
import { atMost } from '../../lib/timers/at-most.ts'
import type { Answer } from '../answer.ts'
import type { CallInput } from '../call-input.ts'
import { reportRequest } from '../report-request.ts'
import type { PipelineServices } from '../services.ts'
import { startKeepAlive } from './keep-alive.ts'
import { EVENT_STREAM } from './respond.ts'
import { LAST_WRITE_MS } from './taken-in-time.ts'

/** Begins the stream of a call that may still be refused, because it waits for an identical one: keep-alive comments
 *  until `run` opens the stream that it is given. A refusal becomes an error event, and is reported as a refused request:
 *  a call that has begun reports itself. */
export function answerAhead(
  services: PipelineServices,
  input: CallInput,
  headers: Readonly<Record<string, string>>,
  run: (input: CallInput) => Promise<unknown>,
): Answer {
  const stream = input.client.openStream()
  const stopKeepAlive = startKeepAlive(stream, services.config.router_settings.stream_keep_alive)
  const openStream = () => {
    stopKeepAlive()
    return stream
  }
  let begun = false
  const begin = () => {
    begun = true
  }
  input.begun()
  const refuse = async (thrown: unknown) => {
    const failure = asGatewayError(thrown)
    if (failure.failure === 'internal')
      services.log.error('internal', { requestId: input.requestId, error: describeError(thrown) })
    if (!begun) reportRefusal(services, input, failure)
    const told = await atMost(LAST_WRITE_MS, stream.write(input.endpoint.errorEvent(failure)) ?? DONE)
    if (told) await stream.close()
    else stream.abort()
  }
  const ran = run({ ...input, begun: begin, client: { ...input.client, openStream } })
    .catch(refuse)
    // The client has left.
    .catch(() => {})
    .finally(stopKeepAlive)
  input.client.defer(ran)
  return { status: 200, headers: { ...headers, ...EVENT_STREAM }, body: stream.readable }
}

const DONE = Promise.resolve()

function reportRefusal(services: PipelineServices, input: CallInput, failure: GatewayError): void {
  const { requestId, arrivedAt, client, caller, endpoint } = input
  const asked = { requestId, arrivedAt, client, caller, method: 'POST', route: endpoint.path, modelCall: true }
  reportRequest(services, { ...asked, status: failure.status, failure })
}
