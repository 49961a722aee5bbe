import { hasPermission } from '../../identity/grants.ts'
import { after } from '../../lib/after.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import { refuseEarly } from '../../pipeline/admit/refuse-early.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { Caller } from '../../pipeline/caller.ts'
import type { Endpoint } from '../../pipeline/endpoint.ts'
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
export function runModelCall(
  scope: Scope,
  endpoint: Endpoint,
  caller: Caller,
  addressed: Addressed = NOTHING_SAID,
): Promise<Answer> {
  scope.services.foreground.lastAt = scope.arrivedAt
  const refusing = refuseUnread(scope, caller)
  return refusing
    ? refusing.then(() => receiveCall(scope, endpoint, caller, addressed))
    : receiveCall(scope, endpoint, caller, addressed)
}

/** What was received of a request. */
interface Received {
  /** Empty for a form. */
  readonly bytes: Uint8Array
  readonly form: IncomingForm | undefined
  readonly hops: number
}

/** Most bodies are here with their head: then nothing is waited for before the call itself. */
function receiveCall(scope: Scope, endpoint: Endpoint, caller: Caller, addressed: Addressed): Promise<Answer> {
  let receiving: Received | Promise<Received>
  try {
    receiving = received(scope, endpoint, addressed)
  } catch (error) {
    return refused(scope, error)
  }
  if (!(receiving instanceof Promise)) return run(scope, endpoint, caller, receiving)
  return receiving.then(
    (request) => run(scope, endpoint, caller, request),
    (error) => refused(scope, error),
  )
}

function received(
  { services, client, footprint, header }: Scope,
  { mode, edit: ofEndpoint }: Endpoint,
  { model, edit = ofEndpoint }: Addressed,
): Received | Promise<Received> {
  const hops = hopsOf(header(HOPS_HEADER))
  const contentType = requireType(header('content-type'), mode.body)
  refuseCompressed(header('content-encoding'))
  const { max_json_bytes, max_upload_bytes } = services.config.general_settings
  if (mode.body !== 'json') {
    const hasTags = (name: string) =>
      services.registry.resolve(name)?.deployments.some(({ info }) => info.tags?.length) === true
    const form = incomingForm(client, mode, contentType, { limitBytes: max_upload_bytes, footprint, hasTags, model })
    return { bytes: NO_BYTES, form, hops }
  }
  return after(client.body(max_json_bytes, footprint), (body) => {
    return { bytes: edit ? editedBody(body, edit) : body, form: undefined, hops }
  })
}

/** A request that is refused before it becomes a call counts against the limits too. */
async function refused(scope: Scope, error: unknown): Promise<never> {
  await scope.count()
  throw error
}

function run(scope: Scope, endpoint: Endpoint, caller: Caller, request: Received): Promise<Answer> {
  const { services, client, footprint, requestId, arrivedAt, address, header } = scope
  return runCall(services, {
    requestId,
    arrivedAt,
    endpoint,
    caller,
    address,
    client,
    footprint,
    bytes: request.bytes,
    form: request.form,
    clientHeaders: headersOf(scope, endpoint),
    cacheControl: header('cache-control'),
    hops: request.hops,
    // The header never fails a call: it is ignored for those without the permission.
    explain: header('x-gateway-explain') === '1' && hasPermission(scope.caller(), 'config.read'),
    strict: header('x-gateway-strict') === '1',
    noLog: header('x-gateway-no-log') === '1',
    traceparent: traceParent(header('traceparent')),
    begun: scope.reportsItself,
  })
}

/** Shorter bodies have usually arrived before the store's answer could. */
const SHORT_BODY_BYTES = 16_384

/** Refuses a long body of a caller at its limit before reading it. */
function refuseUnread({ services, header, requestId }: Scope, caller: Caller): Promise<void> | undefined {
  const length = Number(header('content-length') ?? 0)
  if (length <= SHORT_BODY_BYTES) return undefined
  const tokens = /^multipart\//i.test(header('content-type') ?? '') ? 1 : tokensOfCharacters(length)
  return refuseEarly(services, { caller, requestId, tokens })
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
