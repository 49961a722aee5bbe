import { joinBytes } from '../lib/bytes.ts'
import { editJson } from '../lib/edit-json.ts'
import type { Outgoing } from '../providers/provider.ts'
import type { Deployment } from '../routing/deployment.ts'
import type { Call } from './call.ts'
import { defaultFields } from './default-fields.ts'

/** The call as this deployment gets it: what its operator set where the client left it out. A request that goes by way of
 *  chat is completed there. */
export function withDefaults(call: Call, deployment: Deployment, byWayOfChat: boolean): Outgoing {
  const { request, bytes, contentType, form, streamed, clientHeaders = {}, endpoint } = call
  const outgoing = { body: request, bytes, contentType, streamed, clientHeaders }
  if (!form && isEmpty(deployment.connection.defaults)) return outgoing
  const { voice_id: _voice, ...defaults } = deployment.connection.defaults
  if (form) {
    const whole = async () => ({ ...defaults, ...(await form.whole()) })
    return { ...outgoing, body: { ...defaults, ...request }, form: { raw: form.raw, whole } }
  }
  if (Object.keys(defaults).length === 0) return outgoing
  if (byWayOfChat) return { ...outgoing, chatDefaults: defaults }
  const missing = defaultFields(defaults, request, endpoint.dialect?.defaults)
  if (Object.keys(missing).length === 0) return outgoing
  return { ...outgoing, body: { ...request, ...missing }, bytes: joinBytes(editJson(bytes, request, missing)) }
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false
  return true
}
