import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { missingPermission } from '../../../identity/grants.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { CallableBinding, ChangedBinding } from '../../../stores/sql/records/callable-binding-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { changeAnswer, changeAnswers } from '../records/record-changed.ts'
import {
  ANY_SCOPE,
  callableKey,
  callableKind,
  KINDS,
  reachesOf,
  refusedScope,
  requireBindable,
  scopeChanged,
  scopeId,
  scopeType,
} from './callable-scope.ts'

const PATH = '/ui/api/callable-target-bindings'

const enabled = lazily(() => z.boolean().describe('A disabled binding still restricts its scope, but allows nothing.'))
const answer = lazily(() =>
  z.object({
    binding_id: z.string(),
    scope_type: scopeType(),
    scope_id: z.string(),
    callable_kind: callableKind(),
    callable_key: z.string().describe('The name of the model or route group, the label, or the key of the server.'),
    enabled: enabled(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)
const shown = { description: 'The binding.', schema: answer } as const
const common = { tag: 'Identity', auth: 'admin', scoped: true } as const
const one = { ...common, path: `${PATH}/{binding_id}`, params: () => z.object({ binding_id: z.string() }) } as const

const draft = lazily(() =>
  z.strictObject({
    scope_type: scopeType(),
    scope_id: scopeId(),
    callable_kind: callableKind().default('target'),
    callable_key: callableKey(),
    enabled: enabled().default(true),
  }),
)

const list = defineRoute(
  {
    ...common,
    method: 'get',
    path: PATH,
    summary: 'The bindings of organizations, teams, users and keys.',
    permission: ANY_SCOPE.read,
    query: () =>
      z.object({
        scope_type: scopeType().optional(),
        scope_id: scopeId().optional(),
        callable_kind: callableKind().optional(),
        callable_key: storable().max(256).optional(),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, caller, input: { query } }) => {
    const { cursor, limit, ...where } = query
    const reaches = reachesOf(caller(), 'read')
    const found = await services.records.callableBindings.page({ reaches, where, cursor, limit: limit + 1 })
    return json(pageOf(found, limit, ({ binding_id }) => binding_id))
  },
)

const create = defineRoute(
  {
    ...common,
    method: 'post',
    path: PATH,
    summary:
      'Binds a model, a route group, a label or an MCP server to a scope, which may then use only what is bound to it.',
    permission: ANY_SCOPE.update,
    json: draft,
    responses: changeAnswers(201, shown),
  },
  async (scope) => {
    const { services, caller, input } = scope
    const { scope_type, scope_id, ...grant } = draft().parse(input.json)
    const target = { scope_type, scope_id }
    await requireBindable(services, 'callable_key', grant)
    const reaches = reachesOf(caller(), 'update')
    const made = await services.records.callableBindings.create(newId('binding'), target, grant, reaches)
    if (made === undefined) throw await refusedScope(scope, target)
    return changedAnswer(scope, made, undefined, 201)
  },
)

const get = defineRoute(
  { ...one, method: 'get', summary: 'One binding.', permission: ANY_SCOPE.read, responses: { 200: shown } },
  async (scope) => json(await find(scope, 'read')),
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary: 'Changes a binding; omitted fields stay. Its scope cannot change.',
    permission: ANY_SCOPE.update,
    json: () =>
      z.strictObject({
        scope_type: scopeType().optional(),
        scope_id: scopeId().optional(),
        callable_kind: callableKind().optional(),
        callable_key: callableKey().optional(),
        enabled: enabled().optional(),
      }),
    responses: changeAnswers(200, shown),
  },
  async (scope) => {
    const { services, caller, input } = scope
    const binding = await find(scope, 'update')
    const { scope_type, scope_id, ...grant } = input.json
    refuseMove(binding, { scope_type, scope_id })
    const { callable_kind = binding.callable_kind, callable_key = binding.callable_key } = grant
    // A binding of a removed server can still be disabled.
    const moves = callable_kind !== binding.callable_kind || callable_key !== binding.callable_key
    if (moves || callable_kind === 'target')
      await requireBindable(services, 'callable_key', { callable_kind, callable_key })
    const changed = await services.records.callableBindings.change(binding, grant, reachesOf(caller(), 'update'))
    if (changed === undefined) throw unknown()
    return changedAnswer(scope, changed, binding)
  },
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary: 'Removes a binding. A scope without bindings and without a policy allows everything.',
    permission: ANY_SCOPE.update,
    responses: changeAnswers(200, shown),
  },
  async (scope) => {
    const { services, caller } = scope
    const binding = await find(scope, 'update')
    const removed = await services.records.callableBindings.remove(binding, reachesOf(caller(), 'update'))
    if (removed === undefined) throw unknown()
    return changedAnswer(scope, removed, binding)
  },
)

export const callableTargetBindings: readonly Route[] = [list, create, get, patch, remove]

/** The binding of the path. Throws unless the caller may read it, or change it. */
async function find(
  scope: Scope<{ readonly params: { readonly binding_id: string } }>,
  what: 'read' | 'update',
): Promise<CallableBinding> {
  const { services, caller, input } = scope
  const { binding_id: id } = input.params
  const within = (wanted: typeof what) => services.records.callableBindings.find(id, reachesOf(caller(), wanted))
  if (!isStorable(id)) throw unknown()
  const found = await within(what)
  if (found) return found
  const readable = what === 'read' ? undefined : await within('read')
  throw readable ? missingPermission(KINDS[readable.scope_type].update) : unknown()
}

const AUDITED = ['scope_type', 'scope_id', 'callable_kind', 'callable_key', 'enabled'] as const

async function changedAnswer(
  scope: Scope,
  changed: ChangedBinding | 'taken',
  before: CallableBinding | undefined,
  status = 200,
): Promise<Answer> {
  if (changed === 'taken') {
    throw new GatewayError('conflict', 'This is bound to the scope already.', { param: 'callable_key' })
  }
  const { binding } = changed
  const changedFields = AUDITED.filter((field) => before?.[field] !== binding[field])
  const everywhere = await scopeChanged(scope, binding, changed.scope, {
    resource_id: binding.binding_id,
    changes: Object.fromEntries(
      changedFields.map((field) => [field, { old: before?.[field] ?? null, new: binding[field] }]),
    ),
  })
  return changeAnswer(everywhere, binding, status)
}

function refuseMove(
  binding: CallableBinding,
  given: { readonly scope_type: string | undefined; readonly scope_id: string | undefined },
): void {
  for (const field of ['scope_type', 'scope_id'] as const) {
    if (given[field] === undefined || given[field] === binding[field]) continue
    throw mistake(field, 'cannot be changed; make another binding and delete this one')
  }
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'There is no such binding.', { param: 'binding_id' })
}
