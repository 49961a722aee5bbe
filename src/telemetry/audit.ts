import { type AuditEvent, insertAuditEvents } from '../stores/sql/records/audit-records.ts'
import type { Topic } from './delivery.ts'

/** What only the handler of a request knows about it. */
export type AuditDetails = Partial<
  Pick<AuditEvent, 'action' | 'actor_type' | 'actor_id' | 'organization_id' | 'resource_id' | 'changes' | 'metadata'>
>

/** Every write of the administration, and every event of an account. */
export const audit: Topic<AuditEvent> = { name: 'audit', write: insertAuditEvents }
