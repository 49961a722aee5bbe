import type { Config } from '../../config/schema.ts'
import { describeError, type Log } from '../../lib/log.ts'
import type { Seal } from '../../lib/sealing/seal.ts'
import { toolServerOfRecord } from '../../mcp/stored-tool-server.ts'
import { type ToolServersByKey, toolServersOf } from '../../mcp/tool-server.ts'
import type { McpServerRecords } from '../../stores/sql/tools/mcp-server-records.ts'
import type { LivePart } from './live-part.ts'

/** The servers of managed tools by their key: those of the file, and those of the database, which replace those of the
 *  same key. */
export function liveToolServers({
  config,
  records,
  seal,
  log,
}: {
  readonly config: Config
  readonly records: Pick<McpServerRecords, 'all'>
  readonly seal: Seal
  readonly log: Log
}): LivePart<ToolServersByKey> {
  const ofFile = toolServersOf(config)
  return {
    ofFile,
    async read() {
      const servers = new Map(ofFile)
      for (const record of await records.all()) {
        try {
          servers.set(record.server_key, await toolServerOfRecord(record, seal))
        } catch (error) {
          log.error('registry.record_left_out', { toolServer: record.server_key, error: describeError(error) })
        }
      }
      return servers
    },
  }
}
