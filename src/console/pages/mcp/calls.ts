import type { Row } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { useNow } from '../../data/time-range.ts'

const HOUR = 3_600_000
const DAYS = 7

/** What clients called at /mcp in the last seven days, by server; undefined where the person may not read it. What models
 *  call by themselves is a part of their calls. */
export function useCallsOfServers(): {
  readonly from: string
  readonly of: ReadonlyMap<string | null, Row<'GET /ui/api/spend/report'>> | undefined
} {
  const may = useMay()
  const from = new Date(useNow(HOUR) - DAYS * 24 * HOUR).toISOString()
  const query = { provider: 'mcp', group_by: 'deployment', from, limit: 1000 } as const
  const read = useApi('GET /ui/api/spend/report', { query }, { enabled: may('spend.read') })
  return { from, of: read.data && new Map(read.data.data.map((one) => [one.group, one])) }
}
