import type { Abort } from '../../lib/abort.ts'
import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { ServerConnection } from '../server-connection.ts'
import type { ToolServer } from '../tool-server.ts'
import { listTools, type ToolListing } from './list-tools.ts'

export const LIST_CHANGED = 'notifications/tools/list_changed'

/** The tools of a server, asked over a connection. `changed` is called if the list changes meanwhile. */
export function listed(
  { key }: ToolServer,
  { request }: ServerConnection,
  signal: Abort,
  via?: string,
  changed: () => void = () => {},
): Promise<ToolListing> {
  const heard = (method: string) => {
    if (method === LIST_CHANGED) changed()
  }
  const page = (params: JsonRecord) => request({ method: 'tools/list', params: () => params, heard, via }, signal)
  return listTools(key, page, signal)
}
