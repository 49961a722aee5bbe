import * as z from 'zod'
import { mistake } from '../../../config/accepted.ts'
import { addedMcpServer } from '../../../config/sections/mcp-servers.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { toolServerOfDraft } from '../../../mcp/stored-tool-server.ts'
import type { Settings } from '../../../stores/sql/records/sealed-settings.ts'
import type { McpServerRecord } from '../../../stores/sql/tools/mcp-server-records.ts'
import { json } from '../../respond.ts'
import { defineRoute, type Route } from '../../route.ts'
import type { ApiServices, Scope } from '../../scope.ts'
import { changesBetween } from '../audit/changes-between.ts'
import { pageAnswer, pageOf, paging } from '../page.ts'
import { mergePatch } from '../records/merge-patch.ts'
import { isStorable, storable } from '../storable.ts'
import { fromFile, fromRecord, mcpServerAnswer } from './mcp-server-answer.ts'

const PATH = '/ui/api/mcp-servers'

const version = lazily(() => z.int32().optional().describe('The version to change; any other answers 409.'))

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
      const message = 'There is a server of this key already. Change that one, or choose another.'
      throw new GatewayError('conflict', message, { param: 'server_key' })
    }
    audits({ resource_id: key })
    return json(fromRecord(await seen(services, record)), 201)
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
    json: () => patchOf(addedMcpServer()).extend({ version: version() }),
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
    json: () => z.strictObject({ ...addedMcpServer().shape, server_key: z.string().optional(), version: version() }),
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
    return json(fromRecord(await seen(services, record)))
  },
)

export const mcpServers: readonly Route[] = [list, create, get, patch, put, remove]

/** What a change names beside the settings. */
interface Sent {
  readonly server_key?: string
  readonly version?: number
}

/** Every field may be left out, or null, and headers are merged before they are checked. */
function patchOf({ shape }: ReturnType<typeof addedMcpServer>) {
  const fields = Object.keys(shape).map((name) => [name, z.unknown()])
  return z.strictObject(Object.fromEntries(fields) as Record<keyof typeof shape, z.ZodUnknown>).partial()
}

/** Writes what `draftOf` makes of the record, if nobody else has written since. */
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
  if (givenKey !== undefined && givenKey !== key) {
    throw mistake('server_key', 'cannot be changed; make another server and delete this one')
  }
  const record = await findMcpServer(services, key)
  if (!record) throw absent(services, key)
  const { stored } = await toolServerOfDraft(key, draftOf(record), services.seal, record)
  const written = await services.records.mcpServers.replace(key, expected ?? record.version, await stored())
  if (written) {
    // Secrets are masks in both.
    const fields = [...new Set([...Object.keys(record.settings), ...Object.keys(written.settings)])]
    audits({ changes: changesBetween(record.settings, written.settings, fields) })
    return json(fromRecord(await seen(services, written)))
  }
  const message = 'Somebody else has changed this server meanwhile. Read it again, and repeat your change.'
  throw new GatewayError('conflict', message, { param: 'version', code: 'version_conflict' })
}

export async function findMcpServer({ records }: ApiServices, key: string): Promise<McpServerRecord | undefined> {
  return isStorable(key) ? records.mcpServers.find(key) : undefined
}

/** The change is written: it is an answer even where it cannot be read back yet. */
async function seen(services: ApiServices, record: McpServerRecord): Promise<McpServerRecord> {
  await services.live.refresh().catch(() => {})
  return record
}

function absent({ config }: ApiServices, key: string): GatewayError {
  if (!config.gateway_settings.mcp_servers.some(({ server_key }) => server_key === key)) return unknownMcpServer()
  const message =
    'This server is an entry of the configuration file, which is changed there. A new one with the same server_key stands in its place.'
  return new GatewayError('conflict', message, { param: 'server_key', code: 'kept_in_file' })
}

export function unknownMcpServer(): GatewayError {
  return new GatewayError('not_found', 'There is no such server of managed tools.', { param: 'server_key' })
}
