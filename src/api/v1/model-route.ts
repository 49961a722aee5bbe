import { hasPermission } from '../../identity/grants.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { Endpoint } from '../../pipeline/endpoint.ts'
import { refuseEarly } from '../../pipeline/refuse-early.ts'
import { type BodyEdit, editedBody } from '../../pipeline/request/edited-body.ts'
import { hopsOf } from '../../pipeline/request/hops.ts'
import { type IncomingForm, incomingForm } from '../../pipeline/request/incoming-form.ts'
import { traceParent } from '../../pipeline/request/trace.ts'
import { runCall } from '../../pipeline/run-call.ts'
import { HOPS_HEADER } from '../../transport/open-headers.ts'
import { refuseCompressed } from '../middleware/refuse-compressed.ts'
import { MEDIA_TYPES, requireType } from '../middleware/require-type.ts'
import { defineRoute, type Route, type RouteContract } from '../route.ts'
import type { Scope } from '../scope.ts'

export interface ModelRoute extends Route {
  readonly endpoint: Endpoint
}

/** The route of an endpoint that runs a model: reads the body and passes the call to the pipeline. `inJson`: an
 *  endpoint of forms for requests that are JSON. */
export function modelRoute(
  endpoint: Endpoint,
  contract: Pick<RouteContract, 'summary' | 'responses' | 'errorBody' | 'credentialHeader' | 'requestIdHeader'>,
  inJson: Endpoint = endpoint,
): ModelRoute {
  const { path, mode, dialect } = endpoint
  const body = { schema: dialect?.schema ?? mode.schema, contentType: MEDIA_TYPES[mode.body] }
  const route = defineRoute(
    { method: 'post', path, tag: 'Models', auth: 'caller', modelCall: true, body, ...contract },
    (scope) => runModelCall(scope, isJson(scope) ? inJson : endpoint, scope.caller()),
  )
  return { ...route, endpoint }
}

const isJson = (scope: Scope) => /json/i.test(scope.header('content-type') ?? '')

/** What the address of a request determines of its call. */
interface Addressed {
  /** The model, which goes before one in a form. */
  readonly model?: string
  /** The fields of the body that it changes. */
  readonly edit?: BodyEdit | undefined
}
const NOTHING_SAID: Addressed = {}

/** Reads the body of a request and runs it as a call of `caller`, which may be a key that a person uses through the
 *  console. */
export async function runModelCall(
  scope: Scope,
  endpoint: Endpoint,
  caller: Caller,
  { model, edit = endpoint.edit }: Addressed = NOTHING_SAID,
): Promise<Answer> {
  const { services, client, footprint, requestId, arrivedAt, address } = scope
  const { mode } = endpoint
  let contentType: string
  let form: IncomingForm | undefined
  let bytes = NO_BYTES
  let hops: number
  services.foreground.lastAt = arrivedAt
  const refusing = refuseUnread(scope, caller)
  if (refusing) await refusing
  try {
    hops = hopsOf(scope.header(HOPS_HEADER))
    contentType = requireType(scope.header('content-type'), mode.body)
    refuseCompressed(scope.header('content-encoding'))
    const { max_json_bytes, max_upload_bytes } = services.config.general_settings
    if (mode.body === 'json') {
      bytes = await client.body(max_json_bytes, footprint)
      if (edit) bytes = editedBody(bytes, edit)
    } else form = incomingForm(client, mode, contentType, { limitBytes: max_upload_bytes, footprint, model })
  } catch (error) {
    // A request that is refused before it becomes a call counts against the limits too.
    await scope.count()
    throw error
  }
  const begun = scope.reportsItself
  const clientHeaders = headersOf(scope, endpoint)
  // The header never fails a call: it is ignored for those without the permission.
  const explain = scope.header('x-gateway-explain') === '1' && hasPermission(scope.caller(), 'config.read')
  const strict = scope.header('x-gateway-strict') === '1'
  // Waited for here: a promise that is returned as it is costs three hand-overs more.
  return await runCall(services, {
    requestId,
    arrivedAt,
    endpoint,
    caller,
    address,
    client,
    footprint,
    bytes,
    form,
    contentType,
    clientHeaders,
    cacheControl: scope.header('cache-control'),
    hops,
    explain,
    strict,
    noLog: scope.header('x-gateway-no-log') === '1',
    traceparent: traceParent(scope.header('traceparent')),
    begun,
  })
}

/** Shorter bodies have usually arrived before the store's answer could. */
const SHORT_BODY_BYTES = 16_384

/** Refuses a long body of a caller at its limit before reading it. */
function refuseUnread({ services, header, address, requestId }: Scope, caller: Caller): Promise<void> | undefined {
  const length = Number(header('content-length') ?? 0)
  if (length <= SHORT_BODY_BYTES) return undefined
  const tokens = /^multipart\//i.test(header('content-type') ?? '') ? 1 : tokensOfCharacters(length)
  return refuseEarly(services, { caller, address, requestId, tokens })
}

function headersOf(scope: Scope, { clientHeaders }: Endpoint): Readonly<Record<string, string>> | undefined {
  if (!clientHeaders) return undefined
  const headers: Record<string, string> = {}
  for (const name of clientHeaders) {
    const sent = scope.header(name)
    if (sent !== undefined) headers[name] = sent
  }
  return headers
}

const NO_BYTES: Uint8Array = new Uint8Array()
