import { asList, asRecord, type JsonRecord } from '../lib/json/lenient.ts'

/** Whether a request of a batch asks for managed tools, which batches do not have. Other APIs than chat have `mcp` tools of
 *  the provider's own, which name the address of their server or a connector. */
export function asksForManagedTools({ url, body }: JsonRecord): boolean {
  return asList(asRecord(body).tools)
    .map(asRecord)
    .some((tool) => tool.type === 'mcp' && (url === '/v1/chat/completions' || !isVendors(tool)))
}

const isVendors = ({ server_url, connector_id, server }: JsonRecord) =>
  server_url != null || (connector_id != null && server == null)
