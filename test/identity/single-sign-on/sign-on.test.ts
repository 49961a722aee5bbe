import { expect, it } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import type { Profile } from '../../../src/identity/single-sign-on/profile.ts'
import { signOnWith } from '../../../src/identity/single-sign-on/sign-on.ts'
import type { FirstLogin, IdentityRecords, NewIdentity } from '../../../src/stores/sql/people/identity-records.ts'

const profile: Profile = {
  provider: 'https://accounts.google.com',
  subject: 'ann',
  email: 'ann@example.com',
  emailVerified: true,
  ofDomain: false,
  name: 'Ann',
}

/** What a first login asks the records for, of whom nobody has heard yet. */
async function firstLoginOf(profile: Profile, requireVerification: boolean) {
  let asked: NewIdentity | undefined
  const refused: FirstLogin = {
    outcome: 'refused',
    account: null,
    role_before: null,
    organization_version: null,
    team_version: null,
    user_version: null,
    joined_organization: false,
    joined_team: false,
  }
  const records: IdentityRecords = {
    login: async () => undefined,
    async firstLogin(identity) {
      asked = identity
      return refused
    },
  }
  const settings = {
    sso_admin_email_list: [],
    self_registration: {
      enabled: true,
      allowed_domains: ['example.com'],
      require_email_verification: requireVerification,
      default_org: { id: 'sandbox' },
      default_team: { id: 'visitors', role: 'team_developer' },
      default_user: {},
    },
  } as unknown as Config['general_settings']
  const signOn = signOnWith({ settings, records, store: { publish: async () => true } })
  const problem = await signOn(profile).catch(({ code }) => code)
  return { problem, mayCreate: asked?.mayCreate, provisions: asked?.provisioning !== undefined }
}

it('registers who is of an allowed domain still, and others only where the operator asks for no proof', async () => {
  expect(await firstLoginOf({ ...profile, ofDomain: true }, true)).toMatchObject({ mayCreate: true, provisions: true })
  expect(await firstLoginOf(profile, false)).toMatchObject({ mayCreate: true, provisions: true })
  // Invited people and owners of accounts come in all the same.
  const other = { problem: 'unverified_email', mayCreate: false, provisions: false }
  expect(await firstLoginOf(profile, true)).toEqual(other)
  const foreign = { ...profile, email: 'ann@example.org' }
  expect(await firstLoginOf(foreign, true)).toEqual({ ...other, problem: 'blocked_domain' })
})
