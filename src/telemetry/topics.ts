import { audit } from './audit.ts'
import type { Topic } from './delivery.ts'
import { ledger } from './ledger.ts'

/** Every kind of record, for whoever finds them in a queue. */
export const topics: readonly Topic[] = [ledger, audit as Topic]
