import { fetchTransport } from '../../transport/fetch.ts'
import type { Transport } from '../../transport/transport.ts'

/** What workerd's `fetch` does not decode. */
const UNDECODED = new Map<string, CompressionFormat>([
  ['deflate', 'deflate'],
  ['x-gzip', 'gzip'],
])

export const workersTransport = (): Transport => fetchTransport(UNDECODED)
