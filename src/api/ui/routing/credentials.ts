import * as z from 'zod'
import type { CredentialEntry, ModelEntry } from '../../../config/sections/model-list.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { credentialEntry, modelEntry } from '../../../routing/configuration.ts'
import { withCredential } from '../../../routing/credential.ts'
import { credentialOf, credentialOfDraft } from '../../../routing/stored-credential.ts'
import type { CredentialRecord } from '../../../stores/sql/credential-records.ts'
import { brokenForeignKey } from '../../../stores/sql/records/foreign-key.ts'
import type { Settings } from '../../../stores/sql/records/sealed-settings.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { mergePatch } from '../records/merge-patch.ts'
import { changedMeanwhile, expectedVersion, reload, requireSameId } from '../registry-records.ts'
import { credentialAnswer, credentialInUse, shownCredentials, usersOf } from './credential-answer.ts'

const PATH = '/ui/api/credentials'

const common = { tag: 'Configuration', auth: 'admin' } as const
const one = { ...common, path: `${PATH}/{name}`, params: () => z.object({ name: z.string() }) } as const
const answers = { 200: { description: 'The credential.', schema: credentialAnswer } } as const

const changes = lazily(() =>
  z.strictObject({
    name: z.string().optional(),
    provider: z.string().optional(),
    gateway_params: z.record(z.string(), z.unknown()).optional(),
    version: expectedVersion(),
  }),
)

const list = defineRoute(
  {
    ...common,
    path: PATH,
    method: 'get',
    summary: 'The named credentials of providers, by name, with the deployments that use them.',
    permission: 'config.read',
    query: () =>
      z.object({
        search: storable().max(256).default('').describe('Part of the name.'),
        provider: storable().max(256).optional(),
        ...paging(),
      }),
    responses: { 200: pageAnswer(credentialAnswer) },
  },
  async ({ services, input: { query } }) => {
    const { search, provider, cursor, limit } = query
    const where = provider === undefined ? {} : { provider }
    const found = await services.records.credentials.page({ search, cursor, limit: limit + 1, where })
    const { data, next_cursor } = pageOf(found, limit, ({ name }) => name)
    return json({ data: await shownCredentials(services, data), next_cursor })
  },
)

const create = defineRoute(
  {
    ...common,
    path: PATH,
    method: 'post',
    summary: 'Adds a credential that deployments can name instead of having secrets of their own.',
    permission: 'config.update',
    json: credentialEntry,
    responses: { 201: { description: 'The credential.', schema: credentialAnswer } },
  },
  async ({ services, input, audits }) => {
    const { name, ...draft } = input.json
    const { content } = await credentialOfDraft(name, draft, services.seal, services.clock.now())
    audits({ resource_id: name })
    const record = await services.records.credentials.create(name, content)
    if (record) return answer(services, record, 201)
    throw new GatewayError('conflict', 'There is a credential with this name already.', { param: 'name' })
  },
)

const get = defineRoute(
  { ...one, method: 'get', summary: 'One named credential.', permission: 'config.read', responses: answers },
  async ({ services, input }) => {
    const [shown] = await shownCredentials(services, [await existing(services, input.params.name)])
    return json(shown)
  },
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary:
      'Changes a credential, such as its secrets; omitted fields stay, null removes. Every deployment that names it follows within 5 s, in every process.',
    permission: 'config.update',
    json: changes,
    responses: answers,
  },
  async ({ services, input, audits }) => {
    const { name: given, version: expected, ...sent } = input.json
    const before = await existing(services, input.params.name)
    const { name, provider, gateway_params } = before
    requireSameId('name', given, name, 'credential')
    const draft = mergePatch({ provider, gateway_params }, sent) as { provider: string; gateway_params: Settings }
    const { seal, clock, records } = services
    const { credential, content } = await credentialOfDraft(name, draft, seal, clock.now(), before)
    await requireUsable(services, before, credential)
    const record = await records.credentials.replace(name, expected ?? before.version, content)
    if (!record) throw changedMeanwhile('credential')
    // Both records show secrets as masks: rotated_at tells that a secret changed.
    audits({ changes: changesBetween({ ...before }, { ...record }, ['provider', 'gateway_params', 'rotated_at']) })
    return answer(services, record)
  },
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary: 'Removes a credential that no deployment names.',
    permission: 'config.update',
    responses: answers,
  },
  async ({ services, input }) => {
    const { name } = await existing(services, input.params.name)
    await requireUnused(services, name)
    try {
      const record = await services.records.credentials.remove(name)
      if (record) return answer(services, record)
    } catch (error) {
      if (brokenForeignKey(error)?.column !== 'credential') throw error
      await requireUnused(services, name)
    }
    throw unknown()
  },
)

export const credentials: readonly Route[] = [list, create, get, patch, remove]

async function existing({ records }: ApiServices, name: string): Promise<CredentialRecord> {
  const record = isStorable(name) ? await records.credentials.find(name) : undefined
  if (record) return record
  throw unknown()
}

async function answer(services: ApiServices, record: CredentialRecord, status = 200) {
  await reload(services)
  const [shown] = await shownCredentials(services, [record])
  return json(shown, status)
}

async function requireUnused(services: ApiServices, name: string): Promise<void> {
  const ids = (await usersOf(services, [name])).get(name) ?? []
  if (ids.length > 0) throw credentialInUse('Deployments use this credential; give them another first', ids)
}

/** Refuses a change after which a deployment that uses the credential could no longer do so. */
async function requireUsable(services: ApiServices, before: CredentialRecord, after: CredentialEntry): Promise<void> {
  const { provider, gateway_params } = before
  if (after.provider === provider && after.gateway_params.api_base === gateway_params.api_base) return
  const now = await credentialOf(before, services.seal).catch(() => undefined)
  if (!now) return
  const stored = await services.records.models.naming(before.name)
  const entries = [
    ...services.config.model_list.filter((entry) => entry.gateway_params.credential === before.name),
    ...stored.flatMap(({ deployment_id, model_name, gateway_params: params, model_info }) => {
      const result = modelEntry().safeParse({ model_name, gateway_params: params, model_info })
      return result.success ? [{ ...result.data, deployment_id }] : []
    }),
  ]
  const broken = entries.filter((entry) => canUse(entry, now) && !canUse(entry, after))
  if (broken.length === 0) return
  const ids = broken.map(({ deployment_id }) => deployment_id)
  throw credentialInUse('Deployments could not use this credential any more, for another provider or address', ids)
}

function canUse(entry: ModelEntry, credential: CredentialEntry): boolean {
  try {
    withCredential(entry, credential)
    return true
  } catch {
    return false
  }
}

function unknown(): GatewayError {
  return new GatewayError('not_found', 'There is no such credential.', { param: 'name' })
}
