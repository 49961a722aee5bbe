import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { dropper, type Notes, type Outgoing } from '../../providers/provider.ts'
import { hasVendorWords, inCommonWords, OF_DETAILS } from '../../providers/wire/fitting/vendor-words.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { inputBound } from '../admit/input-bound.ts'
import type { Call } from '../call.ts'
import type { Endpoint } from '../endpoint.ts'
import { routingFieldsIn } from '../plan/routing-fields.ts'
import { defaultFields } from '../translate/default-fields.ts'
import { withCappedLimit } from './capped-limit.ts'

/** The call's request as a deployment is asked it: with its defaults in fields that the client left out, and no larger
 *  limit than its model has. Requests that are translated to chat get their defaults after the translation. */
export function withDefaults(call: Call, deployment: Deployment, byWayOfChat: boolean, notes?: Notes): Outgoing {
  const known = withoutHints(withMissing(call, deployment, byWayOfChat, notes), deployment, call.endpoint)
  return withCappedLimit(known, deployment, call.endpoint.dialect)
}

function withMissing(call: Call, deployment: Deployment, byWayOfChat: boolean, notes?: Notes): Outgoing {
  const { form, streamed, clientHeaders = {}, endpoint } = call
  const { request: asked, bytes: sent } = withoutRouting(call, deployment)
  const given = {
    body: asked,
    bytes: sent,
    streamed,
    clientHeaders,
    notes,
    facts: call.memory?.facts,
    likelyInput: () => inputBound(call, call.request).likely,
  }
  const outgoing = endpoint.dialect?.native === 'chat' ? withCommonWords(given, deployment) : given
  const { body: request, bytes } = outgoing
  if (!form && isEmpty(deployment.connection.defaults)) return outgoing
  const { voice_id: _voice, ...defaults } = deployment.connection.defaults
  if (form) {
    const withheld = routingFieldsIn(deployment, call.request)
    const whole = async () => ({ ...defaults, ...withoutMetadata(await form.whole()) })
    return {
      ...outgoing,
      body: { ...defaults, ...withoutMetadata(request) },
      form: { raw: form.raw, addressed: form.addressed, whole, ...(withheld.length > 0 ? { withheld } : {}) },
    }
  }
  if (Object.keys(defaults).length === 0) return outgoing
  if (byWayOfChat) return { ...outgoing, chatDefaults: defaults }
  const missing = defaultFields(defaults, request, endpoint.dialect?.defaults, deployment.connection.baseModel)
  if (Object.keys(missing).length === 0) return outgoing
  return { ...outgoing, body: { ...request, ...missing }, bytes: joinBytes(editJson(bytes, request, missing)) }
}

/** A form's metadata is for the gateway alone. */
function withoutMetadata({ metadata: _metadata, ...others }: ModelRequest): ModelRequest {
  return others
}

/** Removes client fields that would make the provider choose other models. Fields set by the operator stay. */
function withoutRouting(call: Call, deployment: Deployment): Pick<Call, 'request' | 'bytes'> {
  const { request, bytes } = call.writtenFor?.(deployment) ?? call
  const fields = routingFieldsIn(deployment, request)
  if (fields.length === 0) return { request, bytes }
  const remaining = Object.entries(request).filter(([name]) => !fields.includes(name))
  const left = { ...Object.fromEntries(remaining), model: request.model }
  const removed = Object.fromEntries(fields.map((field) => [field, undefined]))
  return { request: left, bytes: call.form ? bytes : joinBytes(editJson(bytes, request, removed)) }
}

/** A request in chat as a vendor understands it that does not know the words of another one. */
function withCommonWords(outgoing: Outgoing, { provider }: Deployment): Outgoing {
  const { body, bytes } = outgoing
  if (!hasVendorWords(body)) return outgoing
  const { changes, names } = inCommonWords(body, provider.words, dropper(outgoing))
  if (isEmpty(changes)) return outgoing
  const told = Object.fromEntries(Object.entries({ ...body, ...changes }).filter(([, value]) => value !== undefined))
  return {
    ...outgoing,
    body: { ...told, model: body.model },
    bytes: joinBytes(editJson(bytes, body, changes)),
    ...(isEmpty(names) ? {} : { clientNames: names }),
    ...(Object.keys(changes).some((word) => OF_DETAILS.has(word)) ? { readsDetails: true } : {}),
  }
}

/** The request without the hints of its endpoint that the deployment's provider does not know. The client learns which
 *  ones were left out. */
function withoutHints(outgoing: Outgoing, deployment: Deployment, { hints, mode }: Endpoint): Outgoing {
  if (!hints) return outgoing
  const { body, bytes } = outgoing
  const known = deployment.adapter(mode.name)?.knows
  const unknown = hints.filter((field) => body[field] !== undefined && !known?.has(field))
  if (unknown.length === 0) return outgoing
  const drop = dropper(outgoing)
  for (const field of unknown) drop(field)
  const removed = Object.fromEntries(unknown.map((field) => [field, undefined]))
  const left = Object.fromEntries(Object.entries(body).filter(([name]) => !unknown.includes(name)))
  return { ...outgoing, body: { ...left, model: body.model }, bytes: joinBytes(editJson(bytes, body, removed)) }
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false
  return true
}
