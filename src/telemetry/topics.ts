import { audit } from './audit.ts'
import type { Topic } from './delivery/delivery.ts'
import { foldedLedger } from './folded-ledger.ts'
import { ledger } from './ledger.ts'
import { refusals } from './refusals.ts'

/** All topics, which write the records of a queue or file by name. */
export const topics: readonly Topic[] = [ledger as Topic, foldedLedger as Topic, audit as Topic, refusals as Topic]

/** Topics that may use reserved space; the detail of calls is folded first. */
export const keptFirst: ReadonlySet<string> = new Set([foldedLedger.name, audit.name])
