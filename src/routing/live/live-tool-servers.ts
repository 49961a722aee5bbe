import type { Config } from '../../config/schema.ts'
import { type ToolServersByKey, toolServersOf } from '../../mcp/tool-server.ts'
import type { LivePart } from './live-part.ts'

/** The servers of managed tools by their key. */
export function liveToolServers(config: Config): LivePart<ToolServersByKey> {
  const ofFile = toolServersOf(config)
  return { ofFile, read: async () => ofFile }
}
