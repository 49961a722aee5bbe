import type { Defaulted, Int4, Int8, Timestamp } from './column-types.ts'

/** The account of a person. */
export interface GatewayAccountTable {
  account_id: string
  user_id: string
  email: string
  /** The address in the form that accounts are looked up by. */
  email_key: string
  /** The person proved to read the mail of the address, or an administrator vouched for it. */
  email_proved: Defaulted<boolean>
  platform_role: 'platform_admin' | 'org_user'
  state: Defaulted<'active' | 'disabled'>
  password_hash: string | null
  password_changed_at: Timestamp | null
  must_change_password: Defaulted<boolean>
  totp_sealed: string | null
  totp_confirmed_at: Timestamp | null
  totp_step: Defaulted<Int8>
  last_login_at: Timestamp | null
  version: Defaulted<Int8>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** A person's identity at an identity provider. */
export interface GatewayAccountIdentityTable {
  provider: string
  subject: string
  account_id: string
  email: string | null
  created_at: Defaulted<Timestamp>
  last_login_at: Timestamp | null
}

export interface GatewayRecoveryCodeTable {
  account_id: string
  code_hash: string
}

/** A browser session; without an account it was opened with the master key. */
export interface GatewaySessionTable {
  session_id: string
  token_hash: string
  account_id: string | null
  method: 'password' | 'sso' | 'master_key' | 'invitation' | 'bootstrap'
  mfa_verified: Defaulted<boolean>
  ip: string | null
  user_agent: string | null
  created_at: Defaulted<Timestamp>
  last_used_at: Defaulted<Timestamp>
  expires_at: Timestamp
  ended_at: Timestamp | null
  version: Defaulted<Int8>
}

export interface GatewayPasswordResetTable {
  token_hash: string
  account_id: string
  created_at: Defaulted<Timestamp>
  expires_at: Timestamp
  used_at: Timestamp | null
}

/** An invitation, which grants access when it is accepted. */
export interface GatewayInvitationTable {
  invitation_id: string
  token_hash: string
  email: string
  email_key: string
  organization_id: string | null
  organization_role: string | null
  team_id: string | null
  team_role: string | null
  state: Defaulted<'pending' | 'accepted' | 'cancelled'>
  invited_by: string | null
  email_id: string | null
  accepted_by: string | null
  accepted_at: Timestamp | null
  expires_at: Timestamp
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** An e-mail to be sent, and the outcome. */
export interface GatewayEmailTable {
  email_id: string
  kind: 'invitation' | 'password_reset'
  recipient: string
  sealed: string | null
  state: Defaulted<'queued' | 'sent' | 'failed'>
  attempts: Defaulted<Int4>
  due_at: Defaulted<Timestamp>
  last_error: string | null
  organization_id: string | null
  created_at: Defaulted<Timestamp>
  sent_at: Timestamp | null
}
