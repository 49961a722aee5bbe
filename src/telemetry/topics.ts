import { audit } from './audit.ts'
import type { Topic } from './delivery.ts'
import { foldedLedger } from './folded-ledger.ts'
import { ledger } from './ledger.ts'

/** Every kind of record, for whoever finds them in a queue or a file. */
export const topics: readonly Topic[] = [ledger as Topic, foldedLedger as Topic, audit as Topic]

/** What has a reserve where room runs out: the detail of calls makes way for it. */
export const keptFirst: ReadonlySet<string> = new Set([foldedLedger.name, audit.name])
