/** A field before and after a change. Never a secret, nor a key. */
export interface FieldChange {
  readonly old: unknown
  readonly new: unknown
}

/** What somebody did, or tried to do, to what the gateway is made of. */
export interface AuditEvent {
  readonly event_id: string
  /** ISO 8601 UTC. */
  readonly occurred_at: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly organization_id: string | null
  /** `key.create`, `team.update`, `model.delete`. */
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly request_id: string
  readonly ip: string | null
  readonly user_agent: string | null
  /** The HTTP status of the answer. */
  readonly status: number
  readonly changes: Readonly<Record<string, FieldChange>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What only the handler of a request knows about it. */
export type AuditDetails = Partial<Pick<AuditEvent, 'organization_id' | 'resource_id' | 'changes' | 'metadata'>>
