import * as z from 'zod'
import { callableNames } from '../../../identity/callable-names.ts'
import { callableTargets, ofModels } from '../../../identity/callable-targets.ts'
import { newId } from '../../../lib/ids.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { CallableGrant } from '../../../stores/sql/records/callable-binding-records.ts'
import type { CallableLevel, NewModelGrant } from '../../../stores/sql/records/callable-scope-records.ts'
import type { CallableScope, Reaches, ScopeType, TargetMode } from '../../../stores/sql/records/callable-scopes.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { isStorable } from '../../storable.ts'
import { changeAnswer, changeAnswers } from '../records/record-changed.ts'
import { changedMeanwhile, expectedScopeVersion } from '../registry-records.ts'
import {
  absentScope,
  callableKey,
  KINDS,
  reachesOf,
  refuseBoundAlias,
  refusedScope,
  scopeChanged,
} from './callable-scope.ts'

const MOST = 1000

const mode = lazily(() =>
  z
    .enum(['inherit', 'restrict'])
    .nullable()
    .describe(
      'restrict: only the models and access groups below, also when there are none; inherit: those count for nothing; null: restrict as soon as there are any.',
    ),
)
const keys = (what: string) => z.array(callableKey()).max(MOST).default([]).describe(what)
const access = lazily(() =>
  z.strictObject({
    mode: mode().default(null),
    version: expectedScopeVersion(),
    models: keys('Models and route groups by their names.'),
    access_groups: keys('Labels, for every model that has them.'),
  }),
)
const answer = lazily(() =>
  z.object({
    mode: mode(),
    models: z.array(z.string()),
    access_groups: z.array(z.string()),
    effective: z
      .array(z.string())
      .describe('The models that can be called now under all scopes together, as /v1/models lists them.'),
    version: z.int().describe('Increases with every change of the record and of what it may call.'),
  }),
)
const shown = { description: 'What the scope may call.', schema: answer } as const

/** The models that scopes of one kind may call: their bindings and policy in one document. */
function modelAccessOf(scope_type: ScopeType, collection: string, parameter: string): Route[] {
  const { noun, read, update } = KINDS[scope_type]
  const common = {
    path: `/ui/api/${collection}/{${parameter}}/model-access`,
    tag: 'Identity',
    auth: 'admin',
    scoped: true,
    params: () => z.object({ [parameter]: z.string() }),
  } as const
  const targetOf = (params: Readonly<Record<string, string>>): CallableScope => {
    const scope = { scope_type, scope_id: params[parameter] ?? '' }
    if (isStorable(scope.scope_id)) return scope
    throw absentScope(scope, parameter)
  }
  const readAccess = async (services: ApiServices, scope: CallableScope, reaches: Reaches) => {
    const levels = await services.records.callableScopes.levels(scope, reaches)
    if (!levels) throw absentScope(scope, parameter)
    return accessAnswer(services, levels)
  }
  const get = defineRoute(
    { ...common, method: 'get', summary: `What this ${noun} may call.`, permission: read, responses: { 200: shown } },
    async ({ services, caller, input }) =>
      json(await readAccess(services, targetOf(input.params), reachesOf(caller(), 'read'))),
  )
  const put = defineRoute(
    {
      ...common,
      method: 'put',
      summary: `Replaces everything that this ${noun} may call.`,
      permission: update,
      json: access,
      responses: changeAnswers(200, shown),
    },
    async (scope) => {
      const { services, caller, input } = scope
      const target = targetOf(input.params)
      const reaches = reachesOf(caller(), 'update')
      const { mode: wanted, models, access_groups, version } = access().parse(input.json)
      for (const [index, model] of models.entries()) refuseBoundAlias(services, `models[${index}]`, model)
      const grants = [...grantsOf('target', models), ...grantsOf('access_group', access_groups)]
      const { callableScopes } = services.records
      const change = await callableScopes.replaceModels(target, { mode: wanted, grants, version }, reaches)
      if (change === undefined) {
        if (version !== undefined && (await callableScopes.levels(target, reaches))) throw changedMeanwhile(noun)
        throw await refusedScope(scope, target, parameter)
      }
      const { mode_before, bindings_before: before } = change
      const everywhere = await scopeChanged(scope, target, change, {
        resource_id: target.scope_id,
        changes: {
          mode: { old: mode_before, new: wanted },
          models: { old: bound(before, 'target'), new: models },
          access_groups: { old: bound(before, 'access_group'), new: access_groups },
        },
      })
      return changeAnswer(everywhere, await readAccess(services, target, reaches))
    },
  )
  return [get, put]
}

export const modelAccess: readonly Route[] = [
  ...modelAccessOf('organization', 'organizations', 'organization_id'),
  ...modelAccessOf('team', 'teams', 'team_id'),
  ...modelAccessOf('user', 'users', 'user_id'),
  ...modelAccessOf('api_key', 'keys', 'key_id'),
]

function grantsOf(callable_kind: NewModelGrant['callable_kind'], given: readonly string[]): NewModelGrant[] {
  return [...new Set(given)].map((callable_key) => ({ binding_id: newId('binding'), callable_kind, callable_key }))
}

function accessAnswer(
  { registry, config }: ApiServices,
  levels: readonly CallableLevel[],
): z.output<ReturnType<typeof answer>> {
  const { mode: own = null, bindings = [], version = 0 } = levels.at(-1) ?? {}
  return {
    mode: modeOf(own, bindings),
    models: bound(bindings, 'target'),
    access_groups: bound(bindings, 'access_group'),
    effective: callableNames(registry, callableTargets(levels, config.general_settings.callable_target_default)),
    version: Number(version),
  }
}

function bound(bindings: readonly CallableGrant[], kind: CallableGrant['callable_kind']): string[] {
  return bindings
    .filter(({ callable_kind, enabled }) => callable_kind === kind && enabled)
    .map((one) => one.callable_key)
}

/** The mode to show. Only disabled bindings allow nothing: without `restrict` the empty lists would read as no limit. */
function modeOf(own: TargetMode, bindings: CallableLevel['bindings']): TargetMode {
  const models = bindings.filter(ofModels)
  return own ?? (models.length > 0 && models.every(({ enabled }) => !enabled) ? 'restrict' : null)
}
