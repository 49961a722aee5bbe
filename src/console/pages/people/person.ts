import type { Row } from '../../data/client.ts'

/** Somebody who can sign in. */
export type Person = Row<'GET /ui/api/accounts'>
export type Invitation = Row<'GET /ui/api/invitations'>

const PROVIDERS: Readonly<Record<string, string>> = {
  okta: 'Okta',
  google: 'Google',
  entra: 'Microsoft Entra',
  oidc: 'single sign-on',
}

/** The ways in which somebody signs in, in words. */
export function waysIn({ has_password, identities, mfa_enabled }: Person): string {
  const ways = [...(has_password ? ['password'] : []), ...identities.map((one) => PROVIDERS[one] ?? one)]
  if (ways.length === 0) return 'no way yet'
  return ways.join(', ') + (mfa_enabled ? ' + second factor' : '')
}

/** Addresses as people paste them: one a line, or with commas between them. */
export function addressesIn(text: string): string[] {
  const found = text.split(/[\s,;]+/).filter(Boolean)
  const seen = new Set<string>()
  return found.filter((one) => !seen.has(one.toLowerCase()) && seen.add(one.toLowerCase()))
}
