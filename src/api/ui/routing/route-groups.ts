import * as z from 'zod'
import { accepted, mistake } from '../../../config/accepted.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { routeGroup } from '../../../routing/route-group.ts'
import type { RouteGroupRecord } from '../../../stores/sql/records/route-group-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { mergePatch } from '../records/merge-patch.ts'
import { isStorable, storable } from '../storable.ts'

const PATH = '/ui/api/route-groups'

const answer = lazily(() =>
  z.object({
    ...routeGroup().shape,
    version: z.int().describe('Rises with every change.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)
const answers = { 200: { description: 'The route group.', schema: answer } } as const
const version = lazily(() =>
  z.int32().optional().describe('The version that the change is meant for; another one answers 409.'),
)
const one = {
  path: `${PATH}/{name}`,
  tag: 'Configuration',
  auth: 'admin',
  params: () => z.object({ name: z.string() }),
} as const

const list = defineRoute(
  {
    method: 'get',
    path: PATH,
    summary: 'The route groups, by name.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the name.'),
        ...paging(),
      }),
    responses: { 200: pageAnswer(answer) },
  },
  async ({ services, input: { query } }) => {
    const found = await services.records.routeGroups.page({ ...query, limit: query.limit + 1 })
    return json(pageOf(found, query.limit, ({ name }) => name))
  },
)

const create = defineRoute(
  {
    method: 'post',
    path: PATH,
    summary: 'Adds a name that clients can call like a model.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    json: routeGroup,
    responses: { 201: { description: 'The route group.', schema: answer } },
  },
  async ({ services, input, audits }) => {
    const group = routeGroup().parse(input.json)
    audits({ resource_id: group.name })
    refuseAlias(services, group.name)
    const record = await services.records.routeGroups.create(group)
    if (record) return json(await seen(services, record), 201)
    throw new GatewayError('conflict', 'There is a route group of this name already.', { param: 'name' })
  },
)

const get = defineRoute(
  { ...one, method: 'get', summary: 'One route group.', permission: 'config.read', responses: answers },
  async ({ services, input }) => {
    const record = await find(services, input.params.name)
    if (record) return json(record)
    throw unknown()
  },
)

const put = defineRoute(
  {
    ...one,
    method: 'put',
    summary: 'Replaces a route group.',
    permission: 'config.update',
    json: () =>
      routeGroup().extend({
        name: routeGroup().shape.name.optional(),
        version: version(),
      }),
    responses: answers,
  },
  async (scope) => {
    const { version: expected, ...content } = scope.input.json
    return replace(scope, await existing(scope), content, expected)
  },
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary: 'Changes a route group: what is left out stays, null takes away, a list of members replaces the list.',
    permission: 'config.update',
    json: () =>
      z.strictObject({
        name: z.string().optional(),
        enabled: routeGroup().shape.enabled.unwrap().nullable().optional(),
        members: routeGroup().shape.members.optional(),
        version: version(),
      }),
    responses: answers,
  },
  async (scope) => {
    const { version: expected, ...changes } = scope.input.json
    const record = await existing(scope)
    const { enabled, members } = record
    const content = mergePatch({ enabled, members }, changes) as Record<string, unknown>
    return replace(scope, record, content, expected ?? record.version)
  },
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary: 'Removes a route group; a model of the same name is back.',
    permission: 'config.update',
    responses: answers,
  },
  async ({ services, input }) => {
    const { name } = input.params
    const record = isStorable(name) ? await services.records.routeGroups.remove(name) : undefined
    if (!record) throw unknown()
    return json(await seen(services, record))
  },
)

export const routeGroups: readonly Route[] = [list, create, get, patch, put, remove]

async function replace(
  { services, audits }: Scope,
  before: RouteGroupRecord,
  content: Readonly<Record<string, unknown>>,
  expected: number | undefined,
): Promise<Answer> {
  const { name } = before
  if (content.name !== undefined && content.name !== name) {
    throw mistake('name', 'cannot be changed; make another group and delete this one')
  }
  const record = await services.records.routeGroups.replace(accepted(routeGroup(), { ...content, name }), expected)
  if (record) {
    audits({ changes: changesBetween({ ...before }, { ...record }, ['enabled', 'members']) })
    return json(await seen(services, record))
  }
  if (!(await find(services, name))) throw unknown()
  const message = 'Somebody else has changed this route group meanwhile. Read it again, and repeat your change.'
  throw new GatewayError('conflict', message, { param: 'version', code: 'version_conflict' })
}

async function existing({ services, input }: Scope<{ params: { name: string } }>): Promise<RouteGroupRecord> {
  const record = await find(services, input.params.name)
  if (record) return record
  throw unknown()
}

async function find(services: ApiServices, name: string): Promise<RouteGroupRecord | undefined> {
  return isStorable(name) ? services.records.routeGroups.find(name) : undefined
}

/** The change is written: it is an answer even where it cannot be read back yet. */
async function seen(services: ApiServices, record: RouteGroupRecord): Promise<RouteGroupRecord> {
  await services.live.refresh().catch(() => {})
  return record
}

function refuseAlias({ config }: ApiServices, name: string): void {
  if (!Object.hasOwn(config.router_settings.model_group_alias, name)) return
  throw mistake('name', 'is an alias of router_settings.model_group_alias; choose another name')
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'There is no such route group.', { param: 'name' })
}
