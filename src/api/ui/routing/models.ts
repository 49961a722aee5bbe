import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { GatewayError } from '../../../lib/errors.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { modelEntry } from '../../../routing/configuration.ts'
import { contentOf, type ModelDraft } from '../../../routing/stored-model.ts'
import { brokenForeignKey } from '../../../stores/sql/records/foreign-key.ts'
import type { ModelContent, ModelRecord } from '../../../stores/sql/records/model-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { mergePatch } from '../records/merge-patch.ts'
import {
  changedMeanwhile,
  expectedVersion,
  keptInFile,
  refuseAlias,
  reload,
  requireSameId,
} from '../registry-records.ts'
import { fromFile, fromRecord, modelAnswer } from './model-answer.ts'

const PATH = '/ui/api/models'
const TRIES = 20

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
    refuseAlias(services, 'model_name', draft.model_name)
    for (const id of given === undefined ? freeIds(services, draft.model_name) : [given]) {
      const content = await contentOf(id, draft, services)
      const record = await named(content, () => services.records.models.create(id, content))
      if (record) {
        audits({ resource_id: id })
        return applied(services, record, 201)
      }
    }
    const message = 'There is a deployment with this id already. Change that one, or choose another id.'
    throw new GatewayError('conflict', message, { param: 'deployment_id' })
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
        version: expectedVersion(),
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
    json: () => modelEntry().safeExtend({ version: expectedVersion() }),
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
    return applied(services, record)
  },
)

export const models: readonly Route[] = [list, create, get, patch, put, remove]

/** Replaces a deployment with `draftOf` its record, unless its version has changed. */
async function change(
  { services, audits }: Pick<Scope, 'services' | 'audits'>,
  id: string,
  givenId: string | undefined,
  expected: number | undefined,
  draftOf: (record: ModelRecord) => ModelDraft,
) {
  requireSameId('deployment_id', givenId, id, 'deployment')
  const record = await find(services, id)
  if (!record) throw absent(services, id)
  const draft = draftOf(record)
  refuseAlias(services, 'model_name', draft.model_name)
  const content = await contentOf(id, draft, services, record)
  const written = await named(content, () => services.records.models.replace(id, expected ?? record.version, content))
  if (!written) throw changedMeanwhile('deployment')
  // Both records show secrets as masks.
  audits({ changes: changesBetween({ ...record }, { ...written }, ['model_name', 'gateway_params', 'model_info']) })
  return applied(services, written)
}

/** Awaits a write. A credential that was removed meanwhile becomes a 400. */
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

async function applied(services: ApiServices, record: ModelRecord, status = 200): Promise<Answer> {
  await reload(services)
  return json(fromRecord(record, services.live), status)
}

/** `<model_name>-<n>`, as in the file. */
function freeIds({ registry }: ApiServices, modelName: string): string[] {
  const taken = new Set(registry.groups.flatMap(({ deployments }) => deployments.map(({ id }) => id)))
  const first = (registry.groups.find(({ name }) => name === modelName)?.deployments.length ?? 0) + 1
  return Array.from({ length: TRIES + taken.size }, (_, index) => `${modelName}-${first + index}`)
    .filter((id) => !taken.has(id))
    .slice(0, TRIES)
}

function absent(services: ApiServices, id: string): GatewayError {
  const isOfFile = services.config.model_list.some(({ deployment_id }) => deployment_id === id)
  return isOfFile ? keptInFile('deployment_id', 'deployment') : unknown()
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'There is no such deployment.', { param: 'deployment_id' })
}
