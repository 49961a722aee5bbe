import { GatewayError } from '../../lib/errors.ts'
import { wordsIn } from '../../lib/json/lazy-json.ts'
import { asList, asRecord, hasAnyOf } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Notes } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'

const NONE: readonly string[] = []

/** The fields of a request that would make the provider choose other models, hosts or credentials, without those that
 *  the operator allows. */
export function routingFieldsIn({ provider, info }: Deployment, request: ModelRequest): readonly string[] {
  const { routingFields } = provider
  const { allow_routing_fields: allowed } = info
  if (!routingFields || allowed === true || !hasAnyOf(request, routingFields)) return NONE
  let found: string[] | undefined
  for (const field of routingFields) {
    if (request[field] === undefined || request[field] === null) continue
    if (Array.isArray(allowed) && allowed.includes(field)) continue
    found ??= []
    found.push(field)
  }
  return found ?? NONE
}

/** The fields of a request that were left out for the provider of an attempt: those that choose models or hosts, and
 *  hints. */
export function droppedFields(
  { deployment, dropped }: { readonly deployment: Deployment } & Notes,
  request: ModelRequest,
): readonly string[] {
  const choosing = routingFieldsIn(deployment, request)
  return dropped ? [...choosing, ...dropped] : choosing
}

/** The deployments that would serve the request with the named model only, for callers that are restricted or whose
 *  budget pays by model. Throws a refusal that names the field if there is none. */
export function withinModel(
  deployments: readonly Deployment[],
  request: ModelRequest,
  restricted: boolean,
): readonly Deployment[] {
  // Tools have prices of their own, so budgets alone need no check of them.
  const tool = restricted ? choosingTool(request) : undefined
  if (tool !== undefined && !deployments.some(({ info }) => info.allow_routing_fields === true)) throw refusal(tool)
  if (tool === undefined && deployments.every((one) => routingFieldsIn(one, request).length === 0)) return deployments
  let field: string | undefined
  const able = deployments.filter((deployment) => {
    const [first] = routingFieldsIn(deployment, request)
    field ??= first
    return first === undefined && (tool === undefined || deployment.info.allow_routing_fields === true)
  })
  if (able.length === 0 && field !== undefined) throw refusal(field)
  return able
}

/** Tools that run at the client or at a server of its own. */
const CLIENTS_OWN: ReadonlySet<unknown> = new Set([undefined, null, 'function', 'custom', 'mcp'])
const MODEL_FIELDS: ReadonlySet<string> = new Set(['model', 'models'])

/** The path of a model that a provider's tool names, such as an adviser or an image model. */
function choosingTool(request: ModelRequest): string | undefined {
  if (!Array.isArray(request.tools) || wordsIn(request, 'tools', MODEL_FIELDS)?.size === 0) return undefined
  for (const [index, value] of asList(request.tools).entries()) {
    const tool = asRecord(value)
    if (CLIENTS_OWN.has(tool.type)) continue
    for (const field of MODEL_FIELDS) {
      if (tool[field] !== undefined) return `tools.${index}.${field}`
      if (asRecord(tool.parameters)[field] !== undefined) return `tools.${index}.parameters.${field}`
    }
  }
  return undefined
}

function refusal(param: string): GatewayError {
  const message = `'${param}' chooses other models than 'model' does, and this key may not call every model, or has a budget. Leave it out.`
  return new GatewayError('permission', message, { param })
}
