import * as z from 'zod'
import { addedMcpServer } from '../../../config/sections/mcp-servers.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { toolServerOfDraft } from '../../../mcp/stored-tool-server.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import type { Settings } from '../../../stores/sql/records/sealed-settings.ts'
import type { McpServerRecord } from '../../../stores/sql/tools/mcp-server-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { isStorable, storable } from '../../storable.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { mergePatch } from '../records/merge-patch.ts'
import { changedMeanwhile, expectedVersion, keptInFile, reload, requireSameId } from '../registry-records.ts'
import { fromFile, fromRecord, mcpServerAnswer } from './mcp-server-answer.ts'

const PATH = '/ui/api/mcp-servers'

const one = {
  path: `${PATH}/{server_key}`,
  tag: 'Configuration',
  auth: 'admin',
  params: () => z.object({ server_key: z.string() }),
} as const
const answers = { 200: { description: 'The server.', schema: mcpServerAnswer } } as const

const list = defineRoute(
  {
    method: 'get',
    path: PATH,
    summary: 'The servers of managed tools, of the database and of the configuration file, by key.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.read',
    query: () => z.object({ search: storable().max(256).default('').describe('Part of the key.'), ...paging() }),
    responses: { 200: pageAnswer(mcpServerAnswer) },
  },
  async ({ services, input: { query } }) => {
    const { search, cursor, limit } = query
    const entries = services.config.gateway_settings.mcp_servers
    const keys = entries.map(({ server_key }) => server_key)
    const { records, taken } = await services.records.mcpServers.page({ search, cursor, limit: limit + 1, keys })
    const wanted = search.toLowerCase()
    const ofFile = entries.filter(
      ({ server_key: key }) => !taken.has(key) && key > cursor && key.toLowerCase().includes(wanted),
    )
    const found = [...records.map(fromRecord), ...ofFile.map(fromFile)].sort((left, right) =>
      left.server_key < right.server_key ? -1 : 1,
    )
    return json(pageOf(found, limit, ({ server_key }) => server_key))
  },
)

const create = defineRoute(
  {
    method: 'post',
    path: PATH,
    summary: 'Adds a server of managed tools, or overrides one of the configuration file.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    json: addedMcpServer,
    responses: { 201: { description: 'The server.', schema: mcpServerAnswer } },
  },
  async ({ services, input, audits }) => {
    const { server_key: key, ...draft } = input.json
    const { stored } = await toolServerOfDraft(key, draft, services.seal)
    const record = await services.records.mcpServers.create(key, await stored())
    if (!record) {
      const message = 'There is a server with this key already. Change that one, or choose another key.'
      throw new GatewayError('conflict', message, { param: 'server_key' })
    }
    audits({ resource_id: key })
    return applied(services, record, 201)
  },
)

const get = defineRoute(
  { ...one, method: 'get', summary: 'One server of managed tools.', permission: 'config.read', responses: answers },
  async ({ services, input }) => {
    const { server_key: key } = input.params
    const record = await findMcpServer(services, key)
    if (record) return json(fromRecord(record))
    const entry = services.config.gateway_settings.mcp_servers.find(({ server_key }) => server_key === key)
    if (entry) return json(fromFile(entry))
    throw unknownMcpServer()
  },
)

const patch = defineRoute(
  {
    ...one,
    method: 'patch',
    summary: 'Changes a server of managed tools; omitted fields stay, null removes.',
    permission: 'config.update',
    json: () => patchOf(addedMcpServer()).extend({ version: expectedVersion() }),
    responses: answers,
  },
  async (scope) => {
    const { version: expected, server_key, ...changes } = scope.input.json as Settings & Sent
    return change(scope, server_key, expected, ({ settings }) => mergePatch(settings, changes) as Settings)
  },
)

const put = defineRoute(
  {
    ...one,
    method: 'put',
    summary: 'Replaces a server of managed tools. A secret sent as its mask is kept.',
    permission: 'config.update',
    json: () =>
      z.strictObject({ ...addedMcpServer().shape, server_key: z.string().optional(), version: expectedVersion() }),
    responses: answers,
  },
  async (scope) => {
    const { version: expected, server_key, ...draft } = scope.input.json as Settings & Sent
    return change(scope, server_key, expected, () => draft)
  },
)

const remove = defineRoute(
  {
    ...one,
    method: 'delete',
    summary: 'Removes a server of managed tools. One of the file that it overrode is in force again.',
    permission: 'config.update',
    responses: answers,
  },
  async ({ services, input }) => {
    const { server_key: key } = input.params
    const record = isStorable(key) ? await services.records.mcpServers.remove(key) : undefined
    if (!record) throw absent(services, key)
    return applied(services, record)
  },
)

export const mcpServers: readonly Route[] = [list, create, get, patch, put, remove]

/** The members of a change that are no settings. */
interface Sent {
  readonly server_key?: string
  readonly version?: number
}

/** Every field may be left out, or null, and headers are merged before they are checked. */
function patchOf({ shape }: ReturnType<typeof addedMcpServer>) {
  const fields = Object.keys(shape).map((name) => [name, z.unknown()])
  return z.strictObject(Object.fromEntries(fields) as Record<keyof typeof shape, z.ZodUnknown>).partial()
}

/** Replaces a server with `draftOf` its record, unless its version has changed. */
async function change(
  {
    services,
    audits,
    input,
  }: Pick<Scope<{ readonly params: { readonly server_key: string } }>, 'services' | 'audits' | 'input'>,
  givenKey: string | undefined,
  expected: number | undefined,
  draftOf: (record: McpServerRecord) => Settings,
) {
  const { server_key: key } = input.params
  requireSameId('server_key', givenKey, key, 'server')
  const record = await findMcpServer(services, key)
  if (!record) throw absent(services, key)
  const { stored } = await toolServerOfDraft(key, draftOf(record), services.seal, record)
  const written = await services.records.mcpServers.replace(key, expected ?? record.version, await stored())
  if (!written) throw changedMeanwhile('server')
  const fields = [...new Set([...Object.keys(record.settings), ...Object.keys(written.settings)])]
  audits({ changes: changesBetween(fromRecord(record), fromRecord(written), fields) })
  return applied(services, written)
}

export async function findMcpServer({ records }: ApiServices, key: string): Promise<McpServerRecord | undefined> {
  return isStorable(key) ? records.mcpServers.find(key) : undefined
}

async function applied(services: ApiServices, record: McpServerRecord, status = 200): Promise<Answer> {
  await reload(services)
  return json(fromRecord(record), status)
}

function absent({ config }: ApiServices, key: string): GatewayError {
  const isOfFile = config.gateway_settings.mcp_servers.some(({ server_key }) => server_key === key)
  return isOfFile ? keptInFile('server_key', 'server') : unknownMcpServer()
}

export function unknownMcpServer(): GatewayError {
  return new GatewayError('not_found', 'There is no such server of managed tools.', { param: 'server_key' })
}
