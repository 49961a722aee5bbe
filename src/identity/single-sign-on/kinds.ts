import type { SsoKind } from '../../config/sections/single-sign-on.ts'

/** What a provider says about a person. Nothing of it is believed before it is checked. */
export type Claims = Readonly<Record<string, unknown>>

/** What is particular to a kind of provider. */
export interface Kind {
  /** As people know it: `Continue with …`. */
  readonly label: string
  /** Where the operator names none. */
  readonly issuer?: string
  /** The issuer that the discovery document at `issuer` names, where that is another. */
  documentIssuer?(issuer: string): string
  /** The issuer that a token with these claims has to name, where it is not the document's. */
  tokenIssuer?(documentIssuer: string, claims: Claims): string
  /** Whether the e-mail address is the person's own, where the standard claim does not say so. */
  vouchesFor?(claims: Claims, documentIssuer: string | undefined): boolean
  /** Whether the owner of the address's domain keeps the account, where a verified address does not say so. */
  isKeptByDomain?(claims: Claims, tokenIssuer: string | undefined): boolean
}

const TENANT = '{tenantid}'
/** Google itself, not a stand-in for it. */
const GOOGLE = /^(https:\/\/)?accounts\.google\.com$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Everybody's own accounts at Microsoft: a tenant without an administrator. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'

export const KINDS: Readonly<Record<SsoKind, Kind>> = {
  microsoft: {
    label: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/common/v2.0',
    // Of many tenants at once it names none, and each token its own.
    documentIssuer: (issuer) =>
      issuer.replace(/\/(common|organizations)\//, `/${TENANT}/`).replace('/consumers/', `/${CONSUMERS}/`),
    tokenIssuer: (issuer, { tid }) =>
      typeof tid === 'string' && UUID.test(tid) ? issuer.replace(TENANT, tid) : issuer,
    // Addresses of a configured directory are written by its administrators; in other directories they prove nothing.
    vouchesFor({ xms_edov: owned }, issuer) {
      if (owned !== undefined) return owned === true || ['1', 'true'].includes(String(owned))
      return issuer !== undefined && !issuer.includes(TENANT) && !issuer.includes(CONSUMERS)
    },
  },
  google: {
    label: 'Google',
    issuer: 'https://accounts.google.com',
    // Both are documented.
    tokenIssuer: (issuer, { iss }) => (iss === new URL(issuer).host ? iss : issuer),
    // Other accounts stay with people who have left the domain: the address was verified when they were made.
    isKeptByDomain: ({ hd, email }, issuer) =>
      !GOOGLE.test(issuer ?? '') || typeof hd === 'string' || /@(gmail|googlemail)\.com$/i.test(String(email)),
  },
  okta: { label: 'Okta' },
  oidc: { label: 'single sign-on' },
}

/** Whether the provider says that the address is this person's. */
export function isVerified(kind: Kind, claims: Claims, documentIssuer: string | undefined): boolean {
  const { email_verified: verified } = claims
  if (verified !== undefined) return verified === true || verified === 'true'
  return kind.vouchesFor?.(claims, documentIssuer) ?? false
}

/** Whether the account of a verified address ends with the person's place in its domain, as far as the issuer of their token
 *  tells. */
export function isKept({ isKeptByDomain }: Kind, claims: Claims, tokenIssuer: string | undefined): boolean {
  return isKeptByDomain?.(claims, tokenIssuer) ?? true
}
