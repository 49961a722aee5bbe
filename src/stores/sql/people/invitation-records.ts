import { type RawBuilder, type Selectable, sql } from 'kysely'
import { contains } from '../contains.ts'
import { batchOf, type Query, rowsOf } from '../query.ts'
import type { Reach } from '../records/reach.ts'
import { reachable, type Within } from '../records/scope-records.ts'
import type { Schema } from '../schema/schema.ts'
import type { Sql } from '../sql.ts'
import { emailKey } from './email-key.ts'
import { type Inviters, mayStillInvite } from './inviters.ts'

type Row = Selectable<Schema['gateway_invitation']>

export const INVITATION_STATES = ['pending', 'accepted', 'cancelled', 'expired'] as const
export type InvitationState = (typeof INVITATION_STATES)[number]

/** The access that an invitation grants. */
export type InvitedAccess = Pick<Row, 'organization_id' | 'organization_role' | 'team_id' | 'team_role'>

/** An invitation as administrators see it. */
export interface InvitationRecord
  extends InvitedAccess,
    Pick<
      Row,
      | 'invitation_id'
      | 'email'
      | 'invited_by'
      | 'accepted_by'
      | 'accepted_at'
      | 'expires_at'
      | 'created_at'
      | 'updated_at'
    > {
  readonly state: InvitationState
  readonly organization_name: string | null
  /** The organization that the team is in. */
  readonly team_organization_id: string | null
  readonly team_name: string | null
  readonly invited_by_email: string | null
  /** The last e-mail with its link; null if there was none, or its record was removed. */
  readonly mail: {
    readonly state: 'queued' | 'sent' | 'failed'
    readonly attempts: number
    readonly last_error: string | null
    readonly sent_at: string | null
  } | null
}

/** The token that accepts an invitation, as its hash, and the e-mail that carries it. */
export interface InvitationLink {
  readonly tokenHash: string
  readonly emailId: string | null
}

export interface NewInvitation extends InvitedAccess, InvitationLink {
  readonly invitation_id: string
  readonly email: string
  readonly invited_by: string | null
}

export interface InvitationFilters {
  readonly search: string
  readonly state?: InvitationState | undefined
  readonly organization_id?: string | undefined
  readonly team_id?: string | undefined
}

export interface InvitationRecords {
  /** Creates it together with the e-mail, if one is given. */
  create(invitation: NewInvitation, email?: Query<unknown>): Promise<InvitationRecord>
  find(id: string, reach: Reach): Promise<InvitationRecord | undefined>
  /** The newest first, after the cursor. */
  page(
    page: { readonly reach: Reach; readonly cursor: string; readonly limit: number } & InvitationFilters,
  ): Promise<InvitationRecord[]>
  /** Gives it a new token, a new term and a new inviter, together with the e-mail. The former token becomes invalid, and
   *  an unsent e-mail with it is withdrawn. undefined: it is not pending. */
  renew(
    id: string,
    renewal: InvitationLink & Pick<Row, 'invited_by'>,
    email?: Query<unknown>,
  ): Promise<InvitationRecord | undefined>
  /** undefined: it is not pending. */
  cancel(id: string): Promise<InvitationRecord | undefined>
}

/** The condition that an invitation has this e-mail: false after a later renewal. */
export const carriedBy = (emailId: string) =>
  sql<boolean>`EXISTS (SELECT FROM gateway_invitation WHERE email_id = ${emailId})`

export const INVITATION_SECONDS = 72 * 3600

const NEW_TERM = sql`now() + make_interval(secs => ${sql.lit(INVITATION_SECONDS)})`

/** An invitation is within the reach of its organization and of its team. */
const withinInvitation: Within = ({ organizations, teams }) => sql`(
  record.organization_id = ${organizations} OR record.team_id = ${teams} OR team.organization_id = ${organizations})`

export function invitationRecords(database: Sql, inviters: Inviters): InvitationRecords {
  const shownState = sql<InvitationState>`CASE
    WHEN record.state = 'pending' AND (record.expires_at <= now() OR NOT ${mayStillInvite('record', inviters)})
    THEN 'expired' ELSE record.state END`
  const select = (reach: Reach, conditions: readonly RawBuilder<unknown>[], more = sql``) => sql<InvitationRecord>`
    SELECT record.invitation_id, record.email, record.organization_id, organization.organization_name,
      record.organization_role, record.team_id, team.team_name,
      team.organization_id AS team_organization_id, record.team_role, ${shownState} AS state,
      record.invited_by, inviter.email AS invited_by_email, record.accepted_by, record.accepted_at, record.expires_at,
      record.created_at, record.updated_at,
      CASE WHEN mail.email_id IS NOT NULL THEN json_build_object('state', mail.state, 'attempts', mail.attempts,
        'last_error', mail.last_error,
        'sent_at', to_char(mail.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END AS mail
    FROM gateway_invitation AS record
      LEFT JOIN gateway_organization AS organization USING (organization_id)
      LEFT JOIN gateway_team AS team ON team.team_id = record.team_id
      LEFT JOIN gateway_account AS inviter ON inviter.account_id = record.invited_by
      LEFT JOIN gateway_email AS mail ON mail.email_id = record.email_id
    WHERE ${sql.join([...conditions, reachable(reach, withinInvitation)], sql` AND `)} ${more}`
  const one = (id: string) => select('everything', [sql`record.invitation_id = ${id}`])

  return {
    async create({ tokenHash, emailId, ...invitation }, email) {
      const insertion = sql`
        INSERT INTO gateway_invitation (invitation_id, token_hash, email, email_key, organization_id, organization_role,
          team_id, team_role, invited_by, email_id, expires_at)
        VALUES (${invitation.invitation_id}, ${tokenHash}, ${invitation.email}, ${emailKey(invitation.email)},
          ${invitation.organization_id}, ${invitation.organization_role}, ${invitation.team_id}, ${invitation.team_role},
          ${invitation.invited_by}, ${emailId}, ${NEW_TERM})`
      const rows = await batchOf(database, [insertion, ...(email ? [email] : []), one(invitation.invitation_id)])
      return (rows.at(-1) as InvitationRecord[])[0] as InvitationRecord
    },
    async find(id, reach) {
      return (await rowsOf(database, select(reach, [sql`record.invitation_id = ${id}`])))[0]
    },
    page: ({ reach, cursor, limit, search, state, organization_id, team_id }) =>
      rowsOf(
        database,
        select(
          reach,
          [
            ...(cursor === '' ? [] : [sql`record.invitation_id < ${cursor}`]),
            ...(search === '' ? [] : [contains(sql`record.email || ' ' || record.email_key`, search)]),
            ...(state === undefined ? [] : [sql`${shownState} = ${state}`]),
            ...(organization_id === undefined
              ? []
              : [sql`(record.organization_id = ${organization_id} OR team.organization_id = ${organization_id})`]),
            ...(team_id === undefined ? [] : [sql`record.team_id = ${team_id}`]),
          ],
          sql`ORDER BY record.invitation_id DESC LIMIT ${limit}`,
        ),
      ),
    async renew(id, { tokenHash, emailId, invited_by }, email) {
      const renewal = pendingWithoutMail(
        id,
        sql`token_hash = ${tokenHash}, email_id = ${emailId}, invited_by = ${invited_by}, expires_at = ${NEW_TERM}`,
        'replaced by a newer one',
      )
      const rows = await batchOf(database, [renewal, ...(email ? [email] : []), one(id)])
      return rows[0]?.length === 0 ? undefined : (rows.at(-1) as InvitationRecord[])[0]
    },
    async cancel(id) {
      const cancellation = pendingWithoutMail(id, sql`state = 'cancelled'`, 'the invitation was cancelled')
      const [changed, [record]] = await batchOf<[unknown, InvitationRecord]>(database, [cancellation, one(id)])
      return changed.length === 0 ? undefined : record
    },
  }
}

/** A change of a pending invitation, whose e-mail is withdrawn where it was not sent. */
function pendingWithoutMail(id: string, set: RawBuilder<unknown>, reason: string): Query<unknown> {
  return sql`
    WITH before AS (
      SELECT invitation_id, email_id FROM gateway_invitation
      WHERE invitation_id = ${id} AND state = 'pending' FOR UPDATE
    ),
    withdrawn AS (
      UPDATE gateway_email AS mail SET state = 'failed', sealed = NULL, last_error = ${reason} FROM before
      WHERE mail.email_id = before.email_id AND mail.state = 'queued'
    )
    UPDATE gateway_invitation AS record SET ${set}, updated_at = now() FROM before
    WHERE record.invitation_id = before.invitation_id RETURNING record.invitation_id`
}
