import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { MASTER_KEY, SALT_KEY } from '../../support/gateway.ts'

const page = readFileSync(new URL('../../../docs/accounts.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Single sign-on\n([\s\S]*?)^## /m.exec(page) ?? []
const [first = '', ...others] = Array.from(section.matchAll(/```yaml\n([\s\S]*?)```/g), (match) => match[1] as string)
const env = { SSO_CLIENT_ID: 'a', SSO_CLIENT_SECRET: 'b', GATEWAY_MASTER_KEY: MASTER_KEY, GATEWAY_SALT_KEY: SALT_KEY }

describe('the examples of single sign-on', () => {
  it('are a configuration for each kind of provider, and one of self-registration', () => {
    const accepted = ['', ...others].map((other) => {
      const replaced = other.includes('sso_provider') ? first.replace(/^ *sso_provider:.*\n/m, '') : first
      const { sso_provider, self_registration } = loadConfig(replaced + other, env).general_settings
      return [sso_provider, self_registration.enabled]
    })
    expect(accepted).toEqual([
      ['google', false],
      ['microsoft', false],
      ['okta', false],
      ['oidc', false],
      ['google', true],
    ])
  })
})
