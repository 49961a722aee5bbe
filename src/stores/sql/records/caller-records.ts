import type { Sql } from '../sql.ts'
import type { CallableKind } from './callable-scopes.ts'

/** The limits of one record, with numbers as numbers. */
export interface LimitsRecord {
  readonly rpm_limit: number | null
  readonly tpm_limit: number | null
  readonly rph_limit: number | null
  readonly rpd_limit: number | null
  readonly tpd_limit: number | null
  readonly max_budget: number | null
  readonly soft_budget: number | null
  readonly budget_duration: string | null
  readonly budget_started_at: string
  readonly model_max_budget?: Readonly<Record<string, number>>
  readonly target_mode: 'inherit' | 'restrict' | null
  readonly version: number
}

export interface BindingRecord {
  readonly scope_type: 'organization' | 'team' | 'user' | 'api_key'
  readonly callable_kind: CallableKind
  readonly callable_key: string
  readonly enabled: boolean
}

/** A key with everything that its caller is made of. */
export interface CallerRecord {
  readonly key: LimitsRecord & {
    readonly key_id: string
    readonly owner_account_id: string | null
    readonly max_parallel_requests: number | null
    readonly allowed_ips: readonly string[] | null
    /** Absent from copies that an earlier build left in the shared store; likewise below. */
    readonly turn_off_message_logging?: boolean
    readonly no_log_allowed?: boolean
    readonly expires_at: string | null
    /** It was revoked, the account that owns it is not active, or it has an id of callers without a key, which earlier
     *  builds allowed. */
    readonly revoked: boolean
  }
  readonly user: (LimitsRecord & { readonly user_id: string }) | null
  readonly team: (LimitsRecord & { readonly team_id: string; readonly turn_off_message_logging?: boolean }) | null
  /** The team's; else the key's own. */
  readonly organization: (LimitsRecord & { readonly organization_id: string }) | null
  readonly bindings: readonly BindingRecord[]
}

export interface CallerRecords {
  /** The key of this hash, in one statement; undefined when there is none. */
  byKeyHash(keyHash: string): Promise<CallerRecord | undefined>
  /** The same of several, in order. */
  byKeyHashes(keyHashes: readonly string[]): Promise<readonly (CallerRecord | undefined)[]>
}

export interface CallerRecordsById {
  /** The key of this id; undefined when there is none. */
  byKeyId(keyId: string): Promise<CallerRecord | undefined>
}

/** The kinds of callers. Records name a caller by its key's id, and one without a key by its kind: no key may have such
 *  an id. */
export const CALLER_KINDS = ['master_key', 'api_key', 'session'] as const
export type CallerKind = (typeof CALLER_KINDS)[number]

const LIMITS = [
  ...['rpm_limit', 'tpm_limit', 'rph_limit', 'rpd_limit', 'tpd_limit'],
  ...['max_budget', 'soft_budget', 'budget_duration', 'budget_started_at', 'target_mode', 'version'],
]

/** JSON of some columns of a joined row; null where it is absent. */
function object(alias: string, id: string, columns: readonly string[]): string {
  const members = [id, ...LIMITS, ...columns].map((column) => `'${column}', ${alias}.${column}`)
  return `CASE WHEN ${alias}.${id} IS NULL THEN NULL ELSE json_build_object(${members.join(', ')}) END`
}

// json, not jsonb: text in it may hold \u0000.
// Static text: the one statement that a model call may wait for is made once, not for each call.
const CALLERS = `
  SELECT k.key_hash, ${object('k', 'key_id', ['owner_account_id', 'max_parallel_requests', 'model_max_budget', 'allowed_ips', 'turn_off_message_logging', 'no_log_allowed', 'expires_at'])} AS key,
    k.revoked_at IS NOT NULL OR k.key_id IN (${CALLER_KINDS.map((kind) => `'${kind}'`).join(', ')})
      OR (k.owner_account_id IS NOT NULL AND a.state IS DISTINCT FROM 'active') AS revoked,
    ${object('u', 'user_id', [])} AS user,
    ${object('t', 'team_id', ['model_max_budget', 'turn_off_message_logging'])} AS team,
    ${object('o', 'organization_id', [])} AS organization,
    (SELECT coalesce(json_agg(json_build_object('scope_type', scope_type, 'callable_kind', callable_kind,
        'callable_key', callable_key, 'enabled', enabled)), '[]')
      FROM gateway_callable_binding WHERE (scope_type, scope_id) IN (('api_key', k.key_id), ('user', u.user_id),
        ('team', t.team_id), ('organization', o.organization_id))) AS bindings
  FROM gateway_key k
    LEFT JOIN gateway_account a ON a.account_id = k.owner_account_id
    LEFT JOIN gateway_user u ON u.user_id = k.user_id
    LEFT JOIN gateway_team t ON t.team_id = k.team_id
    LEFT JOIN gateway_organization o ON o.organization_id = coalesce(t.organization_id, k.organization_id)`
const BY_KEY_HASH = `${CALLERS} WHERE k.key_hash = ANY($1::text[])`
const BY_KEY_ID = `${CALLERS} WHERE k.key_id = $1`

interface Row extends Omit<CallerRecord, 'key'> {
  readonly key: Omit<CallerRecord['key'], 'revoked'>
  readonly revoked: boolean
  readonly key_hash: string
}

export function callerRecords(sql: Sql): CallerRecords & CallerRecordsById {
  async function byKeyHashes(keyHashes: readonly string[]): Promise<readonly (CallerRecord | undefined)[]> {
    const { rows } = await sql.query<Row>({ sql: BY_KEY_HASH, parameters: [keyHashes] })
    const found = new Map(rows.map((row) => [row.key_hash, row]))
    return keyHashes.map((keyHash) => recordOf(found.get(keyHash)))
  }
  return {
    byKeyHashes,
    async byKeyId(keyId) {
      const { rows } = await sql.query<Row>({ sql: BY_KEY_ID, parameters: [keyId] })
      return recordOf(rows[0])
    },
    byKeyHash: async (keyHash) => (await byKeyHashes([keyHash]))[0],
  }
}

function recordOf(row: Row | undefined): CallerRecord | undefined {
  if (!row) return undefined
  const { key, user, team, organization, revoked, bindings } = row
  return { key: { ...key, revoked }, user, team, organization, bindings }
}
