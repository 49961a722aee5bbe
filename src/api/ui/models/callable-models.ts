import * as z from 'zod'
import { MODEL_MODES } from '../../../config/sections/model-list.ts'
import { callableNames } from '../../../identity/callable-names.ts'
import { callableTargets } from '../../../identity/callable-targets.ts'
import { reachWithOwn } from '../../../identity/grants.ts'
import { personalTargets } from '../../../identity/personal-targets.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { CallTarget } from '../../../pipeline/caller.ts'
import { capableDeployments } from '../../../pipeline/plan/capable-deployments.ts'
import type { Deployment, Group } from '../../../routing/deployment.ts'
import { tokenLimits } from '../../../routing/token-limits.ts'
import type { DeploymentSignals } from '../../../stores/kv/deployment-signals.ts'
import type { Reaches } from '../../../stores/sql/records/callable-scopes.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import type { Scope } from '../../scope.ts'
import { storable } from '../../storable.ts'
import { MODEL_ENDPOINTS } from '../../v1/model-endpoints.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { priceRanges, shownPrices } from './price-ranges.ts'

const answer = lazily(() =>
  z.object({
    name: z.string().describe('What calls name.'),
    kind: z.enum(['model', 'route_group', 'alias']),
    stands_for: z.string().nullable().describe('Of an alias: the model or route group that it names.'),
    modes: z.array(z.enum(MODEL_MODES)).describe('The kinds of requests that it takes.'),
    prices: shownPrices(),
    priced: z.boolean().describe('False if a deployment of it has no price for a kind of requests.'),
    max_input_tokens: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    access_groups: z.array(z.string()),
    tags: z.array(z.string()).describe('The tags that calls can ask for in `metadata.tags`.'),
    owned_by: z.string().nullable(),
    health: z
      .enum(['healthy', 'degraded', 'unavailable'])
      .describe('degraded: some of its deployments are cooling; unavailable: all are.'),
  }),
)
type Answer = z.output<ReturnType<typeof answer>>

export const callableModels = defineRoute(
  {
    method: 'get',
    path: '/ui/api/callable-models',
    summary: 'The models, route groups and aliases that the caller may call, with prices, limits and health.',
    tag: 'Models',
    auth: 'caller',
    takesSession: true,
    query: () =>
      z.object({
        key_id: storable().min(1).max(256).optional().describe('What this key may call; default: any of the caller.'),
        search: storable().max(256).default('').describe('Part of the name.'),
        mode: z.enum(MODEL_MODES).optional(),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async (scope) => {
    const { services, input } = scope
    const { search, mode, cursor, limit, key_id } = input.query
    const mayCall = await targetsOf(scope, key_id)
    const wanted = search.toLowerCase()
    const { registry } = services
    const rows = callableNames(registry, mayCall)
      .filter((name) => name > cursor && name.toLowerCase().includes(wanted))
      .map((name) => ({ name, group: registry.resolve(name) as Group }))
      .map((row) => ({ ...row, modes: modesOf(row.group) }))
      .filter(({ modes }) => mode === undefined || modes.includes(mode))
    const { data, next_cursor } = pageOf(rows.slice(0, limit + 1), limit, ({ name }) => name)
    const deployments = [...new Set(data.flatMap(({ group }) => group.deployments))]
    const signals = await services.store.signals(deployments.map(({ id }) => id))
    const now = services.clock.now()
    const cooling = new Set(
      deployments.filter((_, index) => ((signals[index] as DeploymentSignals).cooledUntil ?? 0) > now),
    )
    const models = new Set(registry.groups.map(({ name }) => name))
    return json({ data: data.map((row) => shown(row, models, cooling)), next_cursor })
  },
)

/** The models that a key may call; for a person without one, those that any of their keys could. */
async function targetsOf(
  { services, caller }: Pick<Scope, 'services' | 'caller'>,
  keyId: string | undefined,
): Promise<(target: CallTarget) => boolean> {
  const { records, config, clock } = services
  const { callable_target_default: targetDefault } = config.general_settings
  if (keyId === undefined) return personalTargets(caller(), records.callableScopes, targetDefault)
  const key = await records.keys.find(keyId, reachWithOwn(caller(), 'key.read'))
  const levels = key && (await records.callableScopes.levels({ scope_type: 'api_key', scope_id: keyId }, EVERYWHERE))
  if (!levels) throw new GatewayError('not_found', 'There is no such key.', { param: 'key_id' })
  const isOver = key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= clock.now())
  return isOver ? () => false : callableTargets(levels, targetDefault)
}

/** The reach for the levels of a key that was found within the caller's own: they limit the key wherever they are. */
const EVERYWHERE = {
  organization: 'everything',
  team: 'everything',
  user: 'everything',
  api_key: 'everything',
} as const satisfies Reaches

function modesOf(group: Group): Answer['modes'] {
  return MODEL_ENDPOINTS.filter((endpoint) => capableDeployments(group, endpoint).deployments.length > 0).map(
    ({ mode }) => mode.name,
  )
}

function shown(
  { name, group, modes }: { readonly name: string; readonly group: Group; readonly modes: Answer['modes'] },
  models: ReadonlySet<string>,
  cooling: ReadonlySet<Deployment>,
): Answer {
  const { deployments } = group
  const away = deployments.filter((one) => cooling.has(one)).length
  const infos = deployments.map(({ info }) => info)
  const { input = null, output = null } = tokenLimits(group)
  return {
    name,
    kind: name !== group.name ? 'alias' : models.has(name) ? 'model' : 'route_group',
    stands_for: name === group.name ? null : group.name,
    modes,
    ...priceRanges(group, modes),
    max_input_tokens: input,
    max_output_tokens: output,
    access_groups: [...group.accessGroups],
    tags: [...new Set(infos.flatMap(({ tags }) => tags))].sort(),
    owned_by: infos.find(({ owned_by }) => owned_by !== undefined)?.owned_by ?? null,
    health: away === 0 ? 'healthy' : away === deployments.length ? 'unavailable' : 'degraded',
  }
}
