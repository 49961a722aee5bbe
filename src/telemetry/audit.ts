import { type AuditEvent, insertAuditEvents } from '../stores/sql/records/audit-records.ts'
import type { Topic } from './delivery/delivery.ts'

/** The details of an event that only the handler of the request knows. */
export type AuditDetails = Partial<
  Pick<AuditEvent, 'action' | 'actor_type' | 'actor_id' | 'organization_id' | 'resource_id' | 'changes' | 'metadata'>
>

/** Writes of the administration, and events of accounts. */
export const audit: Topic<AuditEvent> = { name: 'audit', write: insertAuditEvents }
