import { asGatewayError, type FailureName, GatewayError } from '../../lib/errors.ts'
import type { Outgoing } from '../../providers/provider.ts'
import { LATE_FIELD } from '../../providers/wire/late-field.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { UpstreamRequest, UpstreamResponse } from '../../transport/transport.ts'
import type { Call } from '../call.ts'
import { asFormFailure, type IncomingForm } from '../request/incoming-form.ts'
import { withDefaults } from './with-defaults.ts'

/** Asks with a form that is still arriving. If a late field changes the request and the form can be replayed, asks
 *  again with the complete form. */
export async function askWithForm(
  call: Call,
  form: IncomingForm,
  deployment: Deployment,
  ask: (asked: Outgoing) => Promise<UpstreamResponse>,
  outgoing: Outgoing,
): Promise<UpstreamResponse> {
  try {
    return await ask(outgoing)
  } catch (error) {
    if (!form.raw.repeatable || !(error instanceof GatewayError) || error.code !== LATE_FIELD) throw error
    return ask(await completed(call, form, deployment))
  }
}

/** The request with all fields of the form: the answer is read according to them. */
export async function completed(call: Call, form: IncomingForm, deployment: Deployment): Promise<Outgoing> {
  call.request = await form.whole()
  call.streamed = call.request.stream === true
  return withDefaults(call, deployment, false)
}

/** The same request with callbacks around each read of the upload: before it, after it, and at its end. */
export function watched(
  request: UpstreamRequest,
  { before, after, allSent }: { before: () => void; after: () => void; allSent: () => void },
): UpstreamRequest {
  const { upload } = request
  if (!upload) return request
  const read = async () => {
    before()
    const piece = await upload.read().catch((error) => {
      // A failed read of the client's upload must not be blamed on the upstream.
      throw asFormFailure(error) ?? asGatewayError(error)
    })
    if (piece === undefined) allSent()
    else after()
    return piece
  }
  return { ...request, upload: { length: upload.length, read } }
}

/** Who is to blame for a failure that came before the client had sent its whole form: a provider that gave up waiting
 *  was kept waiting by the client, and one that dropped the connection may have been. */
const BLAMES: Readonly<Partial<Record<FailureName, 'nobody' | 'perhaps'>>> = {
  upstream_timeout: 'nobody',
  upstream_unreachable: 'perhaps',
}

/** A failure of an attempt, without blame for the deployment where a slow upload may have caused it. */
export function ofSlowUpload(failure: GatewayError, { form }: Call): GatewayError {
  const blames = BLAMES[failure.failure]
  // Nothing is awaited after the closing boundary of a form.
  const isWhole = form?.raw.closing !== undefined || form?.raw.ended
  if (!form || isWhole || !blames || failure.details.blames) return failure
  return new GatewayError(failure.failure, failure.message, { ...failure.details, blames })
}
