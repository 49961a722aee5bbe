import { newId } from '../lib/ids.ts'
import { isoTime } from '../lib/iso-time.ts'
import { type AuditEvent, insertAuditEvents } from '../stores/sql/records/audit-records.ts'
import { storableText } from '../stores/sql/storable-text.ts'
import type { Topic } from './delivery/delivery.ts'
import type { AuditRecorded } from './events.ts'

/** The details of an event that only the handler of the request knows. */
export type AuditDetails = Partial<
  Pick<AuditEvent, 'action' | 'actor_type' | 'actor_id' | 'organization_id' | 'resource_id' | 'changes' | 'metadata'>
>

/** Writes of the administration, and events of accounts. */
export const audit: Topic<AuditEvent> = { name: 'audit', write: insertAuditEvents }

type Needed = 'actor_type' | 'actor_id' | 'action' | 'resource_id' | 'status'
type Told = Pick<AuditEvent, Needed> & {
  readonly [Field in Exclude<keyof AuditEvent, Needed | 'event_id' | 'occurred_at' | 'resource_type'>]?:
    | AuditEvent[Field]
    | undefined
}

const LONGEST_CHANGES = 16_384

/** What the stream of events is told of an action at a time, as the database can hold it. The resource is of the kind that
 *  the action names; what no request did has none. */
export function auditRecorded(now: number, told: Told): AuditRecorded {
  const at = isoTime(now)
  const { actor_type, actor_id, organization_id = null, action, resource_id, status } = told
  const { request_id = '', ip, user_agent, changes = {}, metadata = {} } = told
  const event = {
    event_id: newId('audit'),
    occurred_at: at,
    actor_type,
    actor_id,
    organization_id,
    action,
    resource_type: action.slice(0, action.indexOf('.')),
    resource_id: storableText(resource_id),
    request_id,
    ip: storableText(ip),
    user_agent: storableText(user_agent),
    status,
    changes: shortened(changes),
    metadata,
  }
  return { type: 'audit.recorded', at, event }
}

/** Changes that are too long to keep are reduced to the names of their fields. */
function shortened(changes: AuditEvent['changes']): AuditEvent['changes'] {
  if (JSON.stringify(changes).length <= LONGEST_CHANGES) return changes
  return Object.fromEntries(Object.keys(changes).map((name) => [name, { old: '…', new: '…' }]))
}
