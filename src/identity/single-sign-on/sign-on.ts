import { asciiDomain } from '../../config/ascii-domain.ts'
import type { Config } from '../../config/schema.ts'
import { newId } from '../../lib/ids.ts'
import type { RecordVersion, SharedStore } from '../../stores/kv/shared-store.ts'
import { emailKey } from '../../stores/sql/people/email-key.ts'
import type { FirstLogin, IdentityAccount, IdentityRecords } from '../../stores/sql/people/identity-records.ts'
import { accountRecord } from '../sessions/session-of.ts'
import { SignOnProblem, type SignOnProblemCode } from './problem.ts'
import type { Profile } from './profile.ts'

/** An account that somebody signed on to. */
export interface SignedOn {
  readonly account: IdentityAccount
  /** What the first login of the identity has done; undefined at later ones. */
  readonly first: FirstLogin | undefined
}

const PROBLEMS: Readonly<Partial<Record<FirstLogin['outcome'], readonly [SignOnProblemCode, string]>>> = {
  unverified: ['unverified_email', 'the address has an account, and is not verified'],
  unproved: ['unproved_email', 'the account of the address was never proved to be the one of its owner'],
  taken: ['address_taken', 'the account of the address has another identity at this provider'],
  disabled: ['account_disabled', 'the account is disabled'],
  refused: ['not_invited', 'nobody invited the address'],
}

/** Finds the account of a person by their identity. At the first login of an identity it is linked to the account of its
 *  address, or gets a new one, if the provider has verified the address. */
export function signOnWith(options: {
  readonly settings: Config['general_settings']
  readonly records: IdentityRecords
  readonly store: Pick<SharedStore, 'publish'>
}): (profile: Profile) => Promise<SignedOn> {
  const { settings, records, store } = options
  const { self_registration: registration } = settings
  const admins = new Set(settings.sso_admin_email_list.map(emailKey))

  async function first(profile: Profile): Promise<FirstLogin> {
    const { email, emailVerified, ofDomain, ...identity } = profile
    if (email === undefined || !isAddress(email)) throw new SignOnProblem('unverified_email', 'there is no address')
    const isAllowed = registration.enabled && registration.allowed_domains.includes(domainOf(email) ?? '')
    const registers = isAllowed && (ofDomain || !registration.require_email_verification)
    if (!emailVerified && !registers) throw new SignOnProblem('unverified_email', 'the address is not verified')
    const isAdmin = emailVerified && admins.has(emailKey(email))
    const decided = await records.firstLogin({
      ...identity,
      email: email.trim(),
      emailVerified,
      account_id: newId('account', '-'),
      user_id: newId('user', '-'),
      isAdmin,
      mayCreate: registers || isAdmin,
      provisioning: registers ? provisioningOf(registration) : undefined,
    })
    if (decided.outcome === 'refused' && isAllowed)
      throw new SignOnProblem('unverified_email', 'the account is not kept by the domain of its address')
    if (decided.outcome === 'refused' && registration.enabled)
      throw new SignOnProblem('blocked_domain', 'the domain is not allowed')
    return decided
  }

  /** Publishes what a first login has changed, so that cached sessions and keys apply it from their next request on. */
  async function publish(decided: FirstLogin): Promise<void> {
    const { account, organization_version, team_version, user_version } = decided
    const changed: readonly [record: string, version: string | null][] = [
      [accountRecord(account?.account_id ?? ''), decided.outcome === 'linked' ? (account?.version ?? null) : null],
      [`user:${account?.user_id}`, user_version],
      [`org:${registration.default_org.id}`, organization_version],
      [`team:${registration.default_team.id}`, team_version],
    ]
    const records = changed.flatMap(([record, version]): RecordVersion[] =>
      version === null ? [] : [{ record, version: Number(version) }],
    )
    if (records.length > 0) await store.publish({ records, removed: [] })
  }

  async function known(profile: Profile): Promise<IdentityAccount | undefined> {
    const account = await records.login(profile)
    if (account?.state === 'disabled') throw new SignOnProblem('account_disabled', 'the account is disabled')
    return account
  }

  return async (profile) => {
    const account = await known(profile)
    if (account) return { account, first: undefined }
    const decided = await first(profile)
    const problem = PROBLEMS[decided.outcome]
    if (problem) throw new SignOnProblem(...problem)
    await publish(decided)
    // Another login of the same person was first by a moment.
    const own = decided.account ?? (await known(profile))
    if (!own) throw new SignOnProblem('account_disabled', 'the account was removed meanwhile')
    return { account: own, first: decided.outcome === 'known' ? undefined : decided }
  }
}

type Registration = Config['general_settings']['self_registration']

function provisioningOf({ default_org, default_team, default_user }: Registration) {
  // The configuration is not accepted without their names.
  const [organizationId, teamId] = [default_org.id as string, default_team.id as string]
  return {
    organization: { ...default_org, id: organizationId },
    team: { ...default_team, id: teamId },
    user: default_user,
  }
}

function isAddress(email: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(email.trim())
}

function domainOf(email: string): string | undefined {
  return asciiDomain(email.trim().split('@')[1] ?? '')
}
