import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { modelEntry } from '../../../routing/configuration.ts'
import { contentOf, type ModelDraft } from '../../../routing/stored-model.ts'
import { brokenForeignKey } from '../../../stores/sql/records/foreign-key.ts'
import type { ModelContent, ModelRecord } from '../../../stores/sql/records/model-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { mergePatch } from '../records/merge-patch.ts'
import { isStorable, storable } from '../storable.ts'
import { fromFile, fromRecord, modelAnswer } from './model-answer.ts'

const PATH = '/ui/api/models'
const TRIES = 20

const version = lazily(() => z.int32().optional().describe('The version to change; any other answers 409.'))

const one = {
  path: `${PATH}/{deployment_id}`,
  tag: 'Configuration',
  auth: 'admin',
  params: () => z.object({ deployment_id: z.string() }),
} as const
const answers = { 200: { description: 'The deployment.', schema: modelAnswer } } as const

const list = defineRoute(
  {
    method: 'get',
    path: PATH,
    summary: 'The deployments of the database and of the configuration file, by id.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the id or of the model name.'),
        ...paging(),
      }),
    responses: { 200: pageAnswer(modelAnswer) },
  },
  async ({ services, input: { query } }) => {
    const { search, cursor, limit } = query
    const entries = services.config.model_list
    const ids = entries.map(({ deployment_id }) => deployment_id)
    const { records, taken } = await services.records.models.page({ search, cursor, limit: limit + 1, ids })
    const wanted = search.toLowerCase()
    const ofFile = entries.filter(
      ({ deployment_id: id, model_name }) =>
        !taken.has(id) && id > cursor && `${id} ${model_name}`.toLowerCase().includes(wanted),
    )
    const found = [
      ...records.map((record) => fromRecord(record, services.live)),
      ...ofFile.map((entry) => fromFile(entry, services.live)),
    ].sort((left, right) => (left.deployment_id < right.deployment_id ? -1 : 1))
    return json(pageOf(found, limit, ({ deployment_id }) => deployment_id))
  },
)

const create = defineRoute(
  {
    method: 'post',
    path: PATH,
    summary: 'Adds a deployment, or overrides an entry of the configuration file.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    json: modelEntry,
    responses: { 201: { description: 'The deployment.', schema: modelAnswer } },
  },
  async ({ services, input, audits }) => {
    const { deployment_id: given, ...draft } = input.json
    refuseAlias(services, draft)
    for (const id of given === undefined ? freeIds(services, draft.model_name) : [given]) {
      const content = await contentOf(id, draft, services)
      const record = await named(content, () => services.records.models.create(id, content))
      if (record) {
        audits({ resource_id: id })
        return json(fromRecord(await seen(services, record), services.live), 201)
      }
    }
    throw new GatewayError(
      'conflict',
      'There is a deployment of this id already. Change that one, or choose another.',
      {
        param: 'deployment_id',
      },
    )
  },
)

const get = defineRoute(
  { ...one, method: 'get', summary: 'One deployment.', permission: 'config.read', responses: answers },
  async ({ services, input }) => {
    const { deployment_id: id } = input.params
    const record = await find(services, id)
    if (record) return json(fromRecord(record, services.live))
    const entry = services.config.model_list.find(({ deployment_id }) => deployment_id === id)
    if (entry) return json(fromFile(entry, services.live))
    throw unknown()
  },
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary: 'Changes a deployment; omitted fields stay, null removes.',
    permission: 'config.update',
    json: () =>
      z.strictObject({
        deployment_id: z.string().optional(),
        model_name: z.string().optional(),
        gateway_params: z.record(z.string(), z.unknown()).optional(),
        model_info: z.record(z.string(), z.unknown()).nullable().optional(),
        version: version(),
      }),
    responses: answers,
  },
  async (scope) => {
    const { input } = scope
    const { version: expected, deployment_id, ...changes } = input.json
    return change(scope, input.params.deployment_id, deployment_id, expected, (record) => {
      const { model_name, gateway_params, model_info } = record
      return mergePatch({ model_name, gateway_params, model_info }, changes) as ModelDraft
    })
  },
)

const put = defineRoute(
  {
    ...one,
    method: 'put',
    summary: 'Replaces a deployment. A secret sent as its mask is kept.',
    permission: 'config.update',
    json: () => modelEntry().safeExtend({ version: version() }),
    responses: answers,
  },
  async (scope) => {
    const { input } = scope
    const { version: expected, deployment_id, ...draft } = input.json
    return change(scope, input.params.deployment_id, deployment_id, expected, () => draft)
  },
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary: 'Removes a deployment. An entry of the file that it overrode is in force again.',
    permission: 'config.update',
    responses: answers,
  },
  async ({ services, input }) => {
    const { deployment_id: id } = input.params
    const record = isStorable(id) ? await services.records.models.remove(id) : undefined
    if (!record) throw absent(services, id)
    return json(fromRecord(await seen(services, record), services.live))
  },
)

export const models: readonly Route[] = [list, create, get, patch, put, remove]

/** Writes what `draftOf` makes of the record, if nobody else has written since. */
async function change(
  { services, audits }: Pick<Scope, 'services' | 'audits'>,
  id: string,
  givenId: string | undefined,
  expected: number | undefined,
  draftOf: (record: ModelRecord) => ModelDraft,
) {
  if (givenId !== undefined && givenId !== id) {
    const message = 'deployment_id: cannot be changed; make another deployment and delete this one'
    throw new GatewayError('invalid_request', message, { param: 'deployment_id' })
  }
  const record = await find(services, id)
  if (!record) throw absent(services, id)
  const draft = draftOf(record)
  refuseAlias(services, draft)
  const content = await contentOf(id, draft, services, record)
  const written = await named(content, () => services.records.models.replace(id, expected ?? record.version, content))
  if (written) {
    // Secrets are masks in both.
    audits({ changes: changesBetween({ ...record }, { ...written }, ['model_name', 'gateway_params', 'model_info']) })
    return json(fromRecord(await seen(services, written), services.live))
  }
  const message = 'Somebody else has changed this deployment meanwhile. Read it again, and repeat your change.'
  throw new GatewayError('conflict', message, { param: 'version', code: 'version_conflict' })
}

/** Refuses what names a credential that was removed since it was read. */
async function named<Result>({ credential }: ModelContent, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (brokenForeignKey(error)?.column !== 'credential') throw error
    throw mistake('gateway_params.credential', `names '${credential}', and there is no such credential`)
  }
}

async function find(services: ApiServices, id: string): Promise<ModelRecord | undefined> {
  return isStorable(id) ? services.records.models.find(id) : undefined
}

/** The change is written: it is an answer even where it cannot be read back yet. */
async function seen(services: ApiServices, record: ModelRecord): Promise<ModelRecord> {
  await services.live.refresh().catch(() => {})
  return record
}

/** `<model_name>-<n>`, as in the file. */
function freeIds({ registry }: ApiServices, modelName: string): string[] {
  const taken = new Set(registry.groups.flatMap(({ deployments }) => deployments.map(({ id }) => id)))
  const first = (registry.groups.find(({ name }) => name === modelName)?.deployments.length ?? 0) + 1
  return Array.from({ length: TRIES + taken.size }, (_, index) => `${modelName}-${first + index}`)
    .filter((id) => !taken.has(id))
    .slice(0, TRIES)
}

function refuseAlias({ config }: ApiServices, { model_name: name }: ModelDraft): void {
  if (typeof name !== 'string' || !Object.hasOwn(config.router_settings.model_group_alias, name)) return
  const message = 'model_name: is an alias of router_settings.model_group_alias; choose another name'
  throw new GatewayError('invalid_request', message, { param: 'model_name' })
}

function absent(services: ApiServices, id: string): GatewayError {
  if (!services.config.model_list.some(({ deployment_id }) => deployment_id === id)) return unknown()
  const message =
    'This deployment is an entry of the configuration file, which is changed there. A new one with the same deployment_id stands in its place.'
  return new GatewayError('conflict', message, { param: 'deployment_id', code: 'kept_in_file' })
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'There is no such deployment.', { param: 'deployment_id' })
}
