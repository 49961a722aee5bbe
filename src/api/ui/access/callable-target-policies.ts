import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { lazily } from '../../../lib/lazily.ts'
import { type CallableScope, SCOPE_TYPES } from '../../../stores/sql/records/callable-scopes.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { changeAnswer, changeAnswers } from '../records/record-changed.ts'
import { ANY_SCOPE, reachesOf, refusedScope, scopeChanged, scopeId, scopeType } from './callable-scope.ts'

const PATH = '/ui/api/callable-target-policies'

const mode = lazily(() =>
  z
    .enum(['inherit', 'restrict'])
    .nullable()
    .describe(
      'restrict: only what is bound to the scope, also when that is nothing; inherit: what is bound to it counts for nothing; null: restrict as soon as anything is bound.',
    ),
)
const answer = lazily(() => z.object({ scope_type: scopeType(), scope_id: z.string(), mode: mode() }))
const common = { path: PATH, tag: 'Identity', auth: 'admin', scoped: true } as const

const list = defineRoute(
  {
    ...common,
    method: 'get',
    summary: 'The scopes that do not apply their bindings in the default way.',
    permission: ANY_SCOPE.read,
    query: () =>
      z.object({
        scope_type: scopeType().optional(),
        scope_id: scopeId().optional(),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, caller, input: { query } }) => {
    const { cursor, limit, ...where } = query
    const found = await services.records.callableScopes.policies({
      reaches: reachesOf(caller(), 'read'),
      where,
      cursor: cursor === '' ? undefined : readCursor(cursor),
      limit: limit + 1,
    })
    return json(pageOf(found, limit, ({ scope_type, scope_id }) => `${scope_type}:${scope_id}`))
  },
)

const put = defineRoute(
  {
    ...common,
    method: 'put',
    summary: 'Sets how a scope applies its bindings.',
    permission: ANY_SCOPE.update,
    json: () => z.strictObject({ scope_type: scopeType(), scope_id: scopeId(), mode: mode() }),
    responses: changeAnswers(200, { description: 'The policy.', schema: answer }),
  },
  async (scope) => {
    const { services, caller, input } = scope
    const { mode: wanted, ...target } = input.json
    const change = await services.records.callableScopes.putMode(target, wanted, reachesOf(caller(), 'update'))
    if (change === undefined) throw await refusedScope(scope, target)
    const everywhere = await scopeChanged(scope, target, change, {
      resource_id: target.scope_id,
      changes: { mode: { old: change.mode_before, new: wanted } },
    })
    return changeAnswer(everywhere, { ...target, mode: wanted })
  },
)

export const callableTargetPolicies: readonly Route[] = [list, put]

function readCursor(text: string): CallableScope {
  const end = text.indexOf(':')
  const scope_type = SCOPE_TYPES.find((type) => type === text.slice(0, end))
  if (scope_type === undefined) throw mistake('cursor', 'was not given by a former page')
  return { scope_type, scope_id: text.slice(end + 1) }
}
