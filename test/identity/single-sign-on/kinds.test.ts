import { describe, expect, it } from 'vitest'
import { isKept, isVerified, KINDS } from '../../../src/identity/single-sign-on/kinds.ts'

const ONE = 'https://login.microsoftonline.com/8f0c6a52-0b1e-4f0e-9d3b-6a1f0c2d4e55/v2.0'
const MANY = 'https://login.microsoftonline.com/{tenantid}/v2.0'
const CONSUMERS = 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0'
const { microsoft, google, oidc } = KINDS

describe('the kinds of providers', () => {
  it('of many tenants name the issuer of each', () => {
    const document = microsoft.documentIssuer?.('https://login.microsoftonline.com/common/v2.0') as string
    expect(document).toBe(MANY)
    expect(microsoft.documentIssuer?.('https://login.microsoftonline.com/organizations/v2.0')).toBe(MANY)
    expect(microsoft.documentIssuer?.('https://login.microsoftonline.com/consumers/v2.0')).toBe(CONSUMERS)
    expect(microsoft.documentIssuer?.(ONE)).toBe(ONE)
    const tid = '8f0c6a52-0b1e-4f0e-9d3b-6a1f0c2d4e55'
    expect(microsoft.tokenIssuer?.(document, { tid })).toBe(ONE)
    expect(microsoft.tokenIssuer?.(ONE, { tid: 'another' })).toBe(ONE)
    for (const other of [undefined, 1, '', 'x/../..', `${tid}/x`, '{tenantid}'])
      expect(microsoft.tokenIssuer?.(document, { tid: other })).toBe(MANY)
  })

  it('of Google name it with and without its scheme', () => {
    const issuer = 'https://accounts.google.com'
    expect(google.tokenIssuer?.(issuer, { iss: 'accounts.google.com' })).toBe('accounts.google.com')
    expect(google.tokenIssuer?.(issuer, { iss: issuer })).toBe(issuer)
    expect(google.tokenIssuer?.(issuer, { iss: 'https://evil.example' })).toBe(issuer)
  })

  it('vouch for an address by the standard claim', () => {
    for (const verified of [true, 'true'])
      expect(isVerified(oidc, { email_verified: verified }, 'https://i.example')).toBe(true)
    for (const verified of [false, 'false', 1, 'yes', null, {}])
      expect(isVerified(oidc, { email_verified: verified }, 'https://i.example')).toBe(false)
    expect(isVerified(oidc, {}, 'https://i.example')).toBe(false)
    expect(isVerified(google, {}, 'https://accounts.google.com')).toBe(false)
  })

  it('of Google tell which accounts the owner of the domain keeps', () => {
    const claims = { email: 'ann@example.com' }
    for (const issuer of ['https://accounts.google.com', 'accounts.google.com']) {
      expect(isKept(google, claims, issuer)).toBe(false)
      expect(isKept(google, { ...claims, hd: 'example.org' }, issuer)).toBe(true)
      expect(isKept(google, { email: 'ann@gmail.com' }, issuer)).toBe(true)
    }
    expect(isKept(google, claims, 'https://idp.example')).toBe(true)
    expect(isKept(oidc, claims, 'https://i.example')).toBe(true)
  })

  it('of Microsoft vouch for those of a directory of their own, and for owned domains', () => {
    expect(isVerified(microsoft, {}, ONE)).toBe(true)
    expect(isVerified(microsoft, { email_verified: false }, ONE)).toBe(false)
    expect(isVerified(microsoft, { xms_edov: false }, ONE)).toBe(false)
    for (const issuer of [MANY, CONSUMERS, undefined]) {
      expect(isVerified(microsoft, {}, issuer)).toBe(false)
      expect(isVerified(microsoft, { xms_edov: '1' }, issuer)).toBe(true)
      expect(isVerified(microsoft, { xms_edov: 'false' }, issuer)).toBe(false)
    }
    // The claim means nothing elsewhere.
    expect(isVerified(oidc, { xms_edov: true }, 'https://i.example')).toBe(false)
  })
})
