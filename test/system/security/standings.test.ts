import { beforeAll, describe, expect, inject, it } from 'vitest'
import { documentation } from '../../../src/api/docs/index.ts'
import type { RouteContract } from '../../../src/api/route.ts'
import { routes } from '../../../src/app.ts'
import {
  alsoSignedIn,
  type Browser,
  type BrowserAnswer,
  browser,
  type Person,
  type SignedIn,
  signedIn,
} from '../../support/people.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { enroll, stepNow, totp } from '../../support/second-factor.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')
const contracts = [...routes, ...documentation(routes)].map(({ contract }) => contract)
const named = ({ path }: RouteContract) => path.replace(/\{\w+\}/g, 'x')
const nameOf = ({ method, path }: RouteContract) => `${method} ${path}`

/** What a session lacks, what it is refused with, and the routes that are there to make it good. */
const LADDER = {
  unverified: { code: 'mfa_required', open: ['post /auth/mfa/verify'] },
  password_expired: { code: 'password_change_required', open: ['post /auth/internal/change-password'] },
  unenrolled: {
    code: 'mfa_enrollment_required',
    open: ['post /auth/mfa/enroll/confirm', 'post /auth/mfa/enroll/start'],
  },
} as const
type Standing = keyof typeof LADDER

describe.skipIf(!postgresUrl)('a session that lacks something', () => {
  const gateway = withFullGateway(async () =>
    [
      'general_settings:',
      `  database_url: '${await preparedDatabase(postgresUrl)}'`,
      '  require_mfa: everyone',
      '  max_failed_authentications: 0',
      'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]',
    ].join('\n'),
  )

  const expired: Person = { role: 'platform_admin', passwordHash: 'x', mustChangePassword: true }

  /** Platform admins, who could do everything else. */
  const people: Readonly<Record<Standing, () => Promise<SignedIn>>> = {
    async unverified() {
      const person = await signedIn(gateway, { role: 'platform_admin' })
      await enroll(person)
      return alsoSignedIn(gateway, person)
    },
    password_expired: () => signedIn(gateway, expired),
    unenrolled: () => signedIn(gateway, { role: 'platform_admin' }),
  }

  const ask = (page: Browser, contract: RouteContract): Promise<BrowserAnswer> =>
    page.ask(contract.method.toUpperCase(), named(contract), contract.method === 'get' ? undefined : {})

  describe.each(Object.keys(LADDER) as Standing[])('%s', (standing) => {
    const { code, open } = LADDER[standing]
    let page: SignedIn
    beforeAll(async () => {
      page = await people[standing]()
    })

    it('may call the routes that make it good, and these are all', () => {
      const allowed = contracts.filter(({ standings }) => standings?.includes(standing)).map(nameOf)
      expect(allowed.sort()).toEqual(open.filter((name) => contracts.some((contract) => nameOf(contract) === name)))
    })

    it('is told by /auth/me what it lacks, and shown nothing that it will reach', async () => {
      const { body } = await page.ask('GET', '/auth/me')
      expect(body).toMatchObject({ standing, permissions: [], organizations: [], teams: [], pages: [] })
    })

    const asked = contracts.filter((contract) => contract.path !== '/auth/me' && !contract.path.endsWith('/logout'))

    it.each(asked.filter(({ auth, takesSession }) => auth !== 'public' && (auth !== 'caller' || takesSession)))(
      '$method $path is refused, unless it makes it good',
      async (contract) => {
        const { status, body } = await ask(page, contract)
        if (contract.standings?.includes(standing)) expect(body.error?.code).not.toBe(code)
        else expect([status, body.error.code]).toEqual([403, code])
      },
    )

    it.each(asked.filter(({ auth, takesSession }) => auth === 'public' || (auth === 'caller' && !takesSession)))(
      '$method $path answers as it answers anybody',
      async (contract) => {
        const [mine, anybodys] = [await ask(page, contract), await ask(browser(gateway.url), contract)]
        expect([mine.status, mine.body?.error?.code]).toEqual([anybodys.status, anybodys.body?.error?.code])
      },
    )

    it('may leave', async () => {
      const leaving = await people[standing]()
      expect((await leaving.ask('POST', '/auth/internal/logout')).status).toBe(200)
      expect((await browser(gateway.url, leaving.token).ask('GET', '/auth/me')).body).toEqual({ authenticated: false })
    })
  })

  const standing = async (page: Browser) => (await page.ask('GET', '/auth/me')).body.standing

  it('climbs: a second factor that it has comes before a new password, and that before one that it has to set up', async () => {
    const person = await signedIn(gateway, expired)
    expect(await standing(person)).toBe('password_expired')
    expect((await person.ask('POST', '/auth/mfa/enroll/start')).body.error.code).toBe('password_change_required')
    const other = await signedIn(gateway, { role: 'platform_admin' })
    expect(await standing(other)).toBe('unenrolled')
    const { secret } = await enroll(other)
    expect(await standing(other)).toBe('complete')
    expect((await other.ask('GET', '/ui/api/keys')).status).toBe(200)
    // What the gateway demands cannot be taken away.
    const code = totp(secret, stepNow() + 1)
    const refused = await other.ask('POST', '/auth/mfa/disable', { code })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'mfa_mandatory'])
    const again = await alsoSignedIn(gateway, other)
    // The code was not used up by the refusal.
    expect((await again.ask('POST', '/auth/mfa/verify', { code })).body.standing).toBe('complete')
  })
})

describe.skipIf(!postgresUrl)('where a second factor is demanded of administrators', () => {
  const gateway = withFullGateway(async () =>
    [
      `general_settings: { database_url: '${await preparedDatabase(postgresUrl)}', require_mfa: admins }`,
      'model_list: [{ model_name: m, gateway_params: { model: echo/m } }]',
    ].join('\n'),
  )

  it('those of the platform, of an organization and of a team have to set one up, and nobody else', async () => {
    const make = (path: string, body: object) =>
      gateway.fetch(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
    await make('/ui/api/organizations', { organization_id: 'acme' })
    await make('/ui/api/teams', { team_id: 'red', organization_id: 'acme' })
    const people: readonly (readonly [Person, string])[] = [
      [{ role: 'platform_admin' }, 'unenrolled'],
      [{ organizations: { acme: 'org_owner' } }, 'unenrolled'],
      [{ organizations: { acme: 'org_admin' } }, 'unenrolled'],
      [{ teams: { red: 'team_admin' } }, 'unenrolled'],
      [{ organizations: { acme: 'org_member' }, teams: { red: 'team_admin' } }, 'unenrolled'],
      [{ organizations: { acme: 'org_member' } }, 'complete'],
      [{ organizations: { acme: 'org_billing' } }, 'complete'],
      [{ organizations: { acme: 'org_auditor' } }, 'complete'],
      [{ teams: { red: 'team_developer' } }, 'complete'],
      [{ teams: { red: 'team_viewer' } }, 'complete'],
      [{}, 'complete'],
    ]
    for (const [person, standing] of people) {
      const page = await signedIn(gateway, person)
      expect((await page.ask('GET', '/auth/me')).body.standing, JSON.stringify(person)).toBe(standing)
    }
  })
})
