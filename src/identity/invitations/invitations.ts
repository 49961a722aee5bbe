import { addressBlock } from '../../lib/addresses/address-range.ts'
import { GatewayError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { mayBeToken, newToken } from '../../lib/token.ts'
import type { SharedStore } from '../../stores/kv/shared-store.ts'
import type {
  AcceptedInvitation,
  InvitationAcceptance,
  OpenInvitation,
} from '../../stores/sql/people/invitation-acceptance.ts'
import { attemptQuota, countAttempt, tooManyAttempts } from '../attempts-throttle.ts'
import { recordName } from '../caller-of.ts'
import type { Passwords } from '../passwords/passwords.ts'
import { ORGANIZATION_ROLES, TEAM_ROLES } from '../roles.ts'
import { accountRecord } from '../sessions/session-of.ts'

/** Inspections and acceptances of one address. */
const MOST_PER_MINUTE = 60

export interface Accepted {
  readonly invitation: AcceptedInvitation
  /** The person has proved every factor that the account requires, so that a session may begin. */
  readonly isProved: boolean
  /** False: other processes may use the former access for up to a minute. */
  readonly everywhere: boolean
}

/** Inspects and accepts invitations by their tokens. A token that is wrong, used, cancelled or expired is answered like one
 *  that never existed. */
export interface Invitations {
  /** A token for the link, and what is kept of it. */
  newToken(): { readonly token: string; readonly hash: string }
  inspect(token: string, address: string): Promise<OpenInvitation | undefined>
  /** Uses the token up and gives what it invites to, in one step. Throws where it is not valid, and where a password is
   *  missing. */
  accept(token: string, password: string | undefined, address: string): Promise<Accepted>
}

export function invitations(options: {
  readonly records: InvitationAcceptance
  readonly passwords: Passwords
  readonly store: Pick<SharedStore, 'admit' | 'publish'>
  readonly hash: (token: string) => string
}): Invitations {
  const { records, passwords, store, hash } = options

  async function inspect(token: string, address: string): Promise<OpenInvitation | undefined> {
    await count(store, address)
    return mayBeToken(token) ? records.inspect(hash(token)) : undefined
  }

  /** What is kept of the password; null where none is required. */
  async function passwordHash(open: OpenInvitation, password: string | undefined): Promise<string | null> {
    if (!open.password_required) return null
    if (password !== undefined) return passwords.hash(password, open.email)
    throw new GatewayError('invalid_request', 'password: is required for a new account', {
      param: 'password',
      code: 'password_required',
    })
  }

  return {
    newToken() {
      const token = newToken()
      return { token, hash: hash(token) }
    },
    inspect,
    async accept(token, password, address) {
      let open = await inspect(token, address)
      // Twice: an account that came or went in between changes what is required.
      for (let turn = 0; open && turn < 2; turn++) {
        const invitation = await records.accept({
          tokenHash: hash(token),
          accountId: newId('account', '-'),
          userId: newId('user', '-'),
          passwordHash: await passwordHash(open, password),
          organizationRoles: ORGANIZATION_ROLES,
          teamRoles: TEAM_ROLES,
        })
        if (invitation)
          return { invitation, isProved: isProved(invitation), everywhere: await publishAccess(store, invitation) }
        open = await records.inspect(hash(token))
      }
      throw new GatewayError(
        'not_found',
        'This invitation is not valid: it was used or cancelled, or has expired. Ask the person who invited you for another one.',
        { param: 'token', code: 'invalid_invitation' },
      )
    },
  }
}

/** Setting the account's password proves its owner. For an account that already had one the link proves as much as that of
 *  a password reset: only if it was sent by e-mail alone and there is no second factor. Accounts of single sign-on prove
 *  themselves at their provider. */
function isProved({ password_set, by_mail, has_password, mfa_enabled }: AcceptedInvitation): boolean {
  return password_set || (by_mail && has_password && !mfa_enabled)
}

/** Publishes the new access of an existing account, so that its sessions have it from their next request on. */
async function publishAccess(store: Pick<SharedStore, 'publish'>, invitation: AcceptedInvitation): Promise<boolean> {
  if (invitation.is_new) return true
  const { account_id, account_version, user_id, user_version } = invitation
  return store.publish({
    records: [
      { record: accountRecord(account_id), version: Number(account_version) },
      { record: recordName('user', user_id), version: Number(user_version) },
    ],
    removed: [],
  })
}

async function count(store: Pick<SharedStore, 'admit'>, address: string): Promise<void> {
  const subject = `invitations:${addressBlock(address)}`
  const refused = await countAttempt(store, [attemptQuota(subject, MOST_PER_MINUTE, 'minute')])
  if (refused) throw tooManyAttempts(refused, 'Too many invitations were tried from this address. Try again later.')
}
