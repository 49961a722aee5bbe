import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import { rowsOf } from '../../../src/stores/sql/query.ts'
import { type FullGateway, startFullGateway } from '../../support/full-gateway.node.ts'
import { CLIENT, type Lies, type ScriptedProvider, scriptedProvider } from '../../support/scripted-provider.node.ts'
import { signOnBrowser } from '../../support/sign-on.ts'

const gatewayWith = (settings: string) =>
  startFullGateway(`general_settings:
  enable_sso: true
  sso_client_id: ${CLIENT.id}
  sso_client_secret: ${CLIENT.secret}
  sso_redirect_uri: http://127.0.0.1:1/auth/callback
${settings}`)

describe('single sign-on', () => {
  let provider: ScriptedProvider
  let gateway: FullGateway | undefined

  beforeAll(async () => {
    provider = await scriptedProvider()
  })
  beforeEach(() => {
    provider.lies = {}
    provider.person = { sub: newId('sub'), email: `${newId('p')}@example.com`, email_verified: true }
  })
  afterAll(async () => {
    await gateway?.close()
    await provider.close()
  })

  describe('at three written addresses, without an issuer', () => {
    beforeAll(async () => {
      await gateway?.close()
      gateway = await gatewayWith(`  sso_provider: okta
  sso_authorize_url: ${provider.url}/authorize
  sso_token_url: ${provider.url}/token
  sso_userinfo_url: ${provider.url}/userinfo
`)
    })

    const signOn = async () => {
      const { email } = provider.person
      const invitation = sql`INSERT INTO gateway_invitation (invitation_id, token_hash, email, email_key, expires_at)
        VALUES (${newId('i')}, ${newId('t')}, ${email}, ${email}, now() + interval '1 hour')`
      await rowsOf((gateway as FullGateway).sql, invitation)
      return (await signOnBrowser((gateway as FullGateway).url).signOn()).headers.get('location')
    }

    it('reads the profile, and asks for no document', async () => {
      provider.asked.length = 0
      expect(await signOn()).toBe('/console')
      expect(provider.asked).toEqual(['GET /authorize', 'POST /token', 'GET /userinfo'])
      const identities = await rowsOf((gateway as FullGateway).sql, sql`SELECT provider FROM gateway_account_identity`)
      expect(identities).toEqual([{ provider: `${provider.url}/userinfo` }])
    })

    it('needs no token that says who somebody is', async () => {
      provider.lies = { noIdToken: true }
      expect(await signOn()).toBe('/console')
    })

    it('takes a profile that is signed', async () => {
      provider.lies = { signedProfile: true }
      expect(await signOn()).toBe('/console')
    })

    it.each<[string, Lies]>([
      ['another nonce', { claims: (claims) => ({ ...claims, nonce: 'x' }) }],
      ['another audience', { claims: (claims) => ({ ...claims, aud: 'x' }) }],
      ['an end long past', { claims: (claims) => ({ ...claims, exp: 1 }) }],
      ['no signature', { unsigned: true }],
      ['a profile of somebody else', { userinfo: (claims) => ({ ...claims, sub: 'x' }) }],
      ['a profile of nobody', { noIdToken: true, userinfo: ({ ...claims }) => ({ ...claims, sub: undefined }) }],
    ])('takes no login with %s', async (_, lies) => {
      provider.lies = lies
      expect(await signOn()).toBe('/console/sign-in?problem=provider_refused')
    })
  })

  describe('at an issuer', () => {
    beforeAll(async () => {
      await gateway?.close()
      gateway = await gatewayWith(`  sso_provider: oidc
  sso_issuer: ${provider.url}
`)
    })

    const document = (more: object): Lies => ({
      answers: {
        '/.well-known/openid-configuration': (_, response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ issuer: provider.url, ...more }))
        },
      },
    })
    const addresses = { authorization_endpoint: 'https://x.example/a', token_endpoint: 'https://x.example/t' }

    it.each<[string, Lies, string]>([
      ['another issuer', document({ ...addresses, issuer: 'https://x.example' }), 'provider_refused'],
      ['no addresses', document({}), 'provider_refused'],
      ['an address in the open', document({ ...addresses, token_endpoint: 'http://x.example/t' }), 'provider_refused'],
      ['an address that is none', document({ ...addresses, token_endpoint: 'file:///etc/passwd' }), 'provider_refused'],
      [
        'a failure',
        { answers: { '/.well-known/openid-configuration': (_, response) => response.writeHead(503).end() } },
        'provider_unreachable',
      ],
    ])('begins no login where its document has %s', async (_, lies, problem) => {
      provider.lies = lies
      const response = await signOnBrowser((gateway as FullGateway).url).open('/auth/login')
      expect(response.headers.get('location')).toBe(`/console/sign-in?problem=${problem}`)
    })

    it('asks for its document and its keys once', async () => {
      const browser = signOnBrowser((gateway as FullGateway).url)
      provider.asked.length = 0
      for (let time = 0; time < 3; time++) await browser.signOn()
      expect(provider.asked.filter((asked) => asked === 'GET /jwks')).toEqual(['GET /jwks'])
      const documents = provider.asked.filter((asked) => asked.includes('well-known'))
      expect(documents).toEqual(['GET /.well-known/openid-configuration'])
    })

    it('reads its keys again where one was replaced under its name, and no more often where somebody else signs', async () => {
      const signOn = async () => {
        const arrived = await signOnBrowser((gateway as FullGateway).url).signOn()
        return arrived.headers.get('location')
      }
      // Nobody has invited them: their token was believed.
      expect(await signOn()).toBe('/console/sign-in?problem=not_invited')
      provider.asked.length = 0
      await provider.replaceKey()
      expect(await signOn()).toBe('/console/sign-in?problem=not_invited')
      provider.lies = { foreignKey: true }
      for (let time = 0; time < 3; time++) expect(await signOn()).toBe('/console/sign-in?problem=provider_refused')
      expect(provider.asked.filter((asked) => asked === 'GET /jwks')).toEqual(['GET /jwks'])
    })

    it('sends the secret of the client where it takes it, and remembers where', async () => {
      const signOn = async () => {
        provider.asked.length = 0
        await signOnBrowser((gateway as FullGateway).url).signOn()
        return provider.asked.filter((asked) => asked === 'POST /token').length
      }
      expect(await signOn()).toBe(1)
      // A code that it does not take is not sent twice.
      provider.lies = { back: { code: 'x' } }
      expect(await signOn()).toBe(1)
      provider.lies = { secretInBody: true }
      expect([await signOn(), await signOn()]).toEqual([2, 1])
      const arrived = await signOnBrowser((gateway as FullGateway).url).signOn()
      expect(arrived.headers.get('location')).toBe('/console/sign-in?problem=not_invited')
    })

    it('is on offer', async () => {
      const config = await (await (gateway as FullGateway).fetch('/auth/config')).json()
      expect(config).toMatchObject({ sso: { kind: 'oidc', label: 'single sign-on' } })
    })
  })

  describe('at an issuer of many tenants', () => {
    const TENANT = '8f0c6a52-0b1e-4f0e-9d3b-6a1f0c2d4e55'

    beforeAll(async () => {
      await gateway?.close()
      gateway = await gatewayWith(`  sso_provider: microsoft
  sso_issuer: ${provider.url}/common/v2.0
  sso_admin_email_list: [ann@example.com]
`)
    })

    const lies = (claims: object): Lies => ({
      back: { iss: '' },
      claims: (honest) => ({ ...honest, iss: `${provider.url}/${TENANT}/v2.0`, tid: TENANT, ...claims }),
      answers: {
        '/common/v2.0/.well-known/openid-configuration': (_, response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          const { url } = provider
          const [authorization_endpoint, token_endpoint] = [`${url}/authorize`, `${url}/token`]
          const keys = { jwks_uri: `${url}/jwks`, userinfo_endpoint: `${url}/userinfo` }
          response.end(
            JSON.stringify({ issuer: `${url}/{tenantid}/v2.0`, authorization_endpoint, token_endpoint, ...keys }),
          )
        },
      },
    })
    const signOn = async (claims: object) => {
      provider.lies = lies(claims)
      return (await signOnBrowser((gateway as FullGateway).url).signOn()).headers.get('location')
    }

    it('takes the issuer of each, and addresses of domains that a tenant owns', async () => {
      provider.person = { sub: 'ann', email: 'ann@example.com' }
      expect(await signOn({})).toBe('/console/sign-in?problem=unverified_email')
      expect(await signOn({ xms_edov: false })).toBe('/console/sign-in?problem=unverified_email')
      const other = '11111111-2222-4333-8444-555555555555'
      expect(await signOn({ xms_edov: true, tid: other })).toBe('/console/sign-in?problem=provider_refused')
      expect(await signOn({ xms_edov: true, tid: undefined })).toBe('/console/sign-in?problem=provider_refused')
      expect(await signOn({ xms_edov: true })).toBe('/console')
      const identities = await rowsOf((gateway as FullGateway).sql, sql`SELECT provider FROM gateway_account_identity`)
      expect(identities).toEqual([{ provider: `${provider.url}/${TENANT}/v2.0` }])
      // The same subject in another tenant is somebody else.
      const elsewhere = { xms_edov: true, tid: other, iss: `${provider.url}/${other}/v2.0`, email: 'bob@example.com' }
      expect(await signOn(elsewhere)).toBe('/console/sign-in?problem=not_invited')
    })
  })

  describe('of an address that begins too many logins', () => {
    beforeAll(async () => {
      await gateway?.close()
      gateway = await gatewayWith(`  sso_provider: oidc
  sso_issuer: ${provider.url}
  max_failed_authentications: 3
`)
    })

    it('begins no more, nor comes back from logins that were never begun', async () => {
      const browser = signOnBrowser((gateway as FullGateway).url)
      const statuses: number[] = []
      for (let time = 0; time < 5; time++) statuses.push((await browser.open('/auth/login')).status)
      expect(statuses).toEqual([302, 302, 302, 429, 429])
      const refused = await browser.open('/auth/callback?state=x')
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    })
  })

  describe('that is not configured', () => {
    beforeAll(async () => {
      await gateway?.close()
      gateway = await startFullGateway('model_list: []\n')
    })

    it.each(['/auth/login', '/auth/callback?state=x&code=y'])('is not at %s', async (path) => {
      const response = await (gateway as FullGateway).fetch(path)
      expect([response.status, (await response.json()).error.code]).toEqual([404, 'sso_disabled'])
      const page = await (gateway as FullGateway).fetch(path, { headers: { accept: 'text/html' } })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    })
  })
})
