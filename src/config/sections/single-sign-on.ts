import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { checked, email, flag, operatorUrl, secretText, text } from '../fields.ts'
import { mistakeInOperatorUrl } from '../operator-url.ts'

const SSO_PROVIDERS = ['microsoft', 'google', 'okta', 'oidc'] as const
export type SsoKind = (typeof SSO_PROVIDERS)[number]

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

const redirectUri = () =>
  checked((value) => {
    const mistake = mistakeInOperatorUrl(value)
    if (mistake !== undefined) return mistake
    const { protocol, hostname, pathname, search } = new URL(value)
    if (protocol === 'http:' && !LOOPBACK.test(hostname)) {
      return 'must begin with https://: the codes that people bring back open sessions; http:// is for loopback'
    }
    return pathname === '/auth/callback' && search === '' ? undefined : 'must have the path /auth/callback'
  })

/** Keys of `general_settings` about single sign-on. */
export const ssoSettings = lazily(() => ({
  enable_sso: flag().default(false).describe('Whether people sign on through an identity provider.'),
  sso_provider: z.enum(SSO_PROVIDERS).optional().describe('The kind of identity provider.'),
  sso_client_id: text().optional().describe("This gateway's client id there."),
  sso_client_secret: secretText().optional().describe("This gateway's client secret there."),
  sso_issuer: operatorUrl()
    .optional()
    .describe(
      'The issuer of its tokens, whose discovery document gives the addresses and the keys; microsoft and google have a default.',
    ),
  sso_authorize_url: operatorUrl().optional().describe("Where people log in; left out, as the issuer's document says."),
  sso_token_url: operatorUrl()
    .optional()
    .describe("Where codes become tokens; left out, as the issuer's document says."),
  sso_userinfo_url: operatorUrl()
    .optional()
    .describe("Where the profile is read; left out, as the issuer's document says."),
  sso_redirect_uri: redirectUri().optional().describe('The address of this gateway with the path /auth/callback.'),
  sso_admin_email_list: z.array(email()).default([]).describe('Addresses that become platform_admin at first login.'),
}))

const ALWAYS = ['sso_provider', 'sso_client_id', 'sso_client_secret', 'sso_redirect_uri'] as const
const ADDRESSES = ['sso_authorize_url', 'sso_token_url', 'sso_userinfo_url'] as const

/** Required fields of single sign-on that are missing, each with the reason. */
export function missingSsoSettings(
  settings: {
    readonly [field in keyof ReturnType<typeof ssoSettings>]?: unknown
  },
): [field: string, reason: string][] {
  if (settings.enable_sso !== true) return []
  const missing = (fields: readonly (keyof ReturnType<typeof ssoSettings>)[]) =>
    fields.filter((field) => settings[field] === undefined)
  const provider = settings.sso_provider
  const needsAddresses = (provider === 'okta' || provider === 'oidc') && settings.sso_issuer === undefined
  return [
    ...missing(ALWAYS).map((field): [string, string] => [field, 'while enable_sso is true']),
    ...missing(needsAddresses ? ADDRESSES : []).map((field): [string, string] => [
      field,
      `for sso_provider ${provider} without sso_issuer`,
    ]),
  ]
}
