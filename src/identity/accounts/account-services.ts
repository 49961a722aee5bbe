import type { Config } from '../../config/schema.ts'
import type { Log } from '../../lib/log.ts'
import type { Seal } from '../../lib/sealing/seal.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type { SqlRecords } from '../../stores/sql/records/index.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Transport } from '../../transport/transport.ts'
import type { FailedAttempts } from '../failed-attempts.ts'
import { type Invitations, invitations } from '../invitations/invitations.ts'
import type { MasterKeys } from '../master-caller.ts'
import type { PasswordHasher } from '../passwords/password-hasher.ts'
import type { ResetLinks } from '../passwords/password-resets.ts'
import { type PasswordServices, passwordServices } from '../passwords/password-services.ts'
import { type SecondFactor, secondFactor } from '../second-factor/second-factor.ts'
import { type Sessions, sessions } from '../sessions/sessions.ts'
import { type SingleSignOn, singleSignOn } from '../single-sign-on/single-sign-on.ts'
import { type FirstAdmin, firstAdmin } from './first-admin.ts'

export interface AccountServices extends PasswordServices {
  readonly sessions: Sessions
  readonly secondFactor: SecondFactor
  readonly firstAdmin: FirstAdmin
  readonly invitations: Invitations
  readonly singleSignOn: SingleSignOn
}

interface AccountMeans {
  readonly settings: Config['general_settings']
  readonly records: SqlRecords
  readonly store: SharedStore
  readonly transport: Transport
  readonly hasher: PasswordHasher
  /** undefined: nothing is sent by e-mail. */
  readonly links: ResetLinks | undefined
  readonly masterKeys: MasterKeys
  readonly attempts: FailedAttempts
  /** The hash that identifies a stored token. */
  readonly hash: (token: string) => string
  readonly seal: Seal
  readonly telemetry: Telemetry
  readonly log: Log
  readonly now: () => number
}

/** The ways in for people: passwords, second factor, single sign-on, invitations, and the sessions that they open. */
export function accountServices(means: AccountMeans): AccountServices {
  const { settings, records, attempts } = means
  const open = sessions({
    ...means,
    records: records.sessions,
    requireMfa: settings.require_mfa,
    graceMs: 1000 * settings.identity_grace_seconds,
  })
  const factor = secondFactor({ ...means, records: records.secondFactors, sessions: open })
  const byPassword = passwordServices({
    ...means,
    accounts: records.accounts,
    records: records.passwords,
    sessions: open,
    proveCode: factor.prove,
  })
  const { passwords } = byPassword
  return {
    ...byPassword,
    sessions: open,
    secondFactor: factor,
    firstAdmin: firstAdmin({ ...means, records: records.accounts, passwords }),
    invitations: invitations({ ...means, records: records.invitationAcceptance, passwords }),
    singleSignOn: singleSignOn({ ...means, records: records.identities, throttle: attempts.failed }),
  }
}
