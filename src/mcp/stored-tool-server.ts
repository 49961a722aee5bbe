import { accepted, mistake } from '../config/accepted.ts'
import { type AddedMcpServer, addedMcpServer } from '../config/sections/mcp-servers.ts'
import { isPrivateHost } from '../lib/addresses/private-address.ts'
import type { Seal } from '../lib/sealing/seal.ts'
import { reveal } from '../lib/secret.ts'
import { refuseReferences, type Sealed, type Settings, sealedSettings } from '../stores/sql/records/sealed-settings.ts'
import type { McpServerContent, McpServerRecord } from '../stores/sql/tools/mcp-server-records.ts'
import { type ToolServer, toolServerOf } from './tool-server.ts'

const SECRETS = sealedSettings({
  table: 'gateway_mcp_server',
  column: '',
  fields: ['auth_token'],
  maps: ['auth_headers'],
  addresses: ['base_url'],
  addressOf: ({ base_url: url }) => (typeof url === 'string' ? (URL.parse(url)?.origin ?? url) : ''),
})

/** The server of a record, with its secrets. Throws if it is not valid in this build. */
export async function toolServerOfRecord(record: McpServerRecord, seal: Seal): Promise<ToolServer> {
  const settings = await SECRETS.open(sealedOf(record), seal)
  return serverOf(accepted(addedMcpServer(), { ...settings, server_key: record.server_key }))
}

/** What is sent of a server, as it is asked and as it is stored. Throws a refusal of the first mistake. Masks in it stand
 *  for secrets of `earlier`, which are refused for another address than the one that they were given for. */
export async function toolServerOfDraft(
  key: string,
  draft: Settings,
  seal: Seal,
  earlier?: McpServerRecord,
): Promise<{ readonly server: ToolServer; stored(): Promise<McpServerContent> }> {
  refuseReferences(draft)
  const { server_key: _, ...settings } = await SECRETS.whole(draft, seal, earlier && sealedOf(earlier))
  const entry = accepted(addedMcpServer(), { ...settings, server_key: key })
  const host = URL.parse(reveal(entry.base_url))?.hostname ?? ''
  if (!entry.allow_private && isPrivateHost(host)) {
    throw mistake('base_url', 'is in a private network; set allow_private if the gateway may go there')
  }
  return { server: serverOf(entry), stored: () => SECRETS.close(key, settings, seal) }
}

function serverOf(entry: AddedMcpServer): ToolServer {
  return toolServerOf(entry, { allowPrivate: entry.allow_private })
}

type SealedToolServer = Pick<McpServerRecord, 'server_key' | 'settings' | 'sealed'>

/** Where the secrets of a server belong. */
export const placeOfToolServer = (record: SealedToolServer): string => SECRETS.placeOf(sealedOf(record))

function sealedOf({ server_key: id, settings, sealed }: SealedToolServer): Sealed {
  return { id, settings, sealed }
}
