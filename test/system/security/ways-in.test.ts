import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentation } from '../../../src/api/docs/index.ts'
import { routes } from '../../../src/app.ts'
import { PERMISSIONS } from '../../../src/identity/permissions.ts'
import { keyHasher } from '../../../src/lib/crypto.ts'
import { echo } from '../../support/configuration.ts'
import { MASTER_KEY } from '../../support/gateway.ts'
import { as, type Family, type Pair, pairExists, SALT_KEY, startPair, statusOf } from '../exactness/pair.ts'
import { rawRequest } from './raw-request.ts'

const contracts = [...routes, ...documentation(routes)].map(({ contract }) => contract)
const named = (path: string) => path.replace(/\{\w+\}/g, 'x')

describe('the routes', () => {
  it('that need no credential are these', () => {
    const open = contracts.filter(({ auth }) => auth === 'public').map(({ method, path }) => `${method} ${path}`)
    const known = [
      ...['get /health', 'get /health/liveliness', 'get /health/readiness', 'get /metrics'],
      ...['get /openapi.json', 'get /gateway.schema.json', 'get /docs'],
    ]
    // What comes before there is a session is under /auth.
    expect(open.filter((route) => !route.includes(' /auth/')).sort()).toEqual(known.sort())
  })

  it('of the administration each name the permission that they need', () => {
    // What somebody may call is told to anybody who may call, of themselves.
    const admin = contracts.filter(({ path }) => path.startsWith('/ui/api/') && path !== '/ui/api/callable-models')
    expect(admin.length).toBeGreaterThan(40)
    for (const { auth, path, permission } of admin) {
      const wanted = [permission ?? []].flat()
      expect([auth, wanted.length > 0], path).toEqual(['admin', true])
      for (const one of wanted) expect(PERMISSIONS, path).toContain(one)
    }
  })
})

describe.skipIf(!pairExists())('ways in', () => {
  let pair: Pair
  let family: Family
  let base: string

  beforeAll(async () => {
    pair = await startPair({
      general_settings: { log_level: 'warn', max_failed_authentications: 0 },
      model_list: [echo('echo', 'echo-1')],
    })
    family = await pair.family()
    base = await pair.gateways[0].base()
  })
  afterAll(async () => {
    // Nothing of all this was a mistake of ours.
    for (const gateway of pair?.gateways ?? []) expect(gateway.logged('internal')).toEqual([])
    await pair?.close()
  })

  const closed = contracts.filter(({ auth }) => auth !== 'public')

  it.each(closed)('$method $path answers nobody without a credential', async ({ method, path }) => {
    for (const headers of [[], ['Authorization: Bearer sk-x'], ['Cookie: gateway_session=x'], ['X-Api-Key: sk-x']]) {
      const { status } = await rawRequest(base, { method: method.toUpperCase(), path: named(path), headers })
      expect(status, String(headers)).toBe(401)
    }
  })

  it.each(closed.filter(({ auth }) => auth === 'admin'))('$method $path is not for a virtual key', async (contract) => {
    const { method, path } = contract
    const init = method === 'get' || method === 'delete' ? {} : { body: '{}' }
    const headers = { ...as(family.key), 'content-type': 'application/json' }
    const response = await pair.gateways[1].fetch(named(path), { method: method.toUpperCase(), ...init, headers })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { type: 'permission_error' } })
  })

  describe('odd paths and hosts', () => {
    const variants = (path: string) => [
      ...[
        `/${path}`,
        `//${path}`,
        path.replace(/\/(\w+)$/, '//$1'),
        `${path}/`,
        `${path}//`,
        `${path};`,
        `${path};a=b`,
      ],
      ...[`${path}%00`, `${path}%2f`, `${path}/.`, `${path}/..`, `${path}%20`, `${path}.json`, `${path}?`, `${path}#`],
      ...[`/metrics/..${path}`, `/metrics/%2e%2e${path}`, `/metrics/..;${path}`, `/metrics%2f..${path}`],
      ...[`/health/../${path}`, `/./${path}`, `\\${path.slice(1)}`, path.replaceAll('/', '%2f')],
      ...[path.replaceAll('/', '\\'), path.toUpperCase(), path.replace('e', '%65'), path.replace('e', '%2565')],
      ...[`http://127.0.0.1${path}`, `http://user:pass@127.0.0.1${path}`, path.slice(1), '*'],
    ]
    const paths = closed.filter(({ method }) => method === 'get').map(({ path }) => named(path))

    it.each(paths)('no spelling of %s passes without a credential', async (path) => {
      for (const spelling of variants(path)) {
        const { status, text } = await rawRequest(base, { path: spelling })
        expect([400, 401, 404, 405], `${spelling} ${text.slice(0, 300)}`).toContain(status)
      }
    })

    it.each([
      ...[
        '',
        'evil.example',
        'localhost',
        'a b',
        'a/b',
        '/metrics',
        'x@127.0.0.1',
        '[::1',
        '127.0.0.1:99999',
        '%00',
        '..',
      ],
      ...['gateway.test\r\nX-Y: z', '\xff', 'x'.repeat(5000), '#', '?', '\\', '\t'],
    ])('no Host %j opens or breaks anything', async (host) => {
      for (const path of ['/v1/models', '/ui/api/keys', '/nothing']) {
        const { status, text } = await rawRequest(base, { path, host })
        expect([400, 401, 404], `${path} ${text.slice(0, 200)}`).toContain(status)
      }
      const headers = [`Authorization: Bearer ${MASTER_KEY}`]
      expect([200, 400]).toContain((await rawRequest(base, { path: '/v1/models', host, headers })).status)
    })

    it.each([
      ['X-Original-URL: /metrics'],
      ['X-Rewrite-URL: /metrics'],
      ['X-HTTP-Method-Override: OPTIONS'],
      ['X-Forwarded-Prefix: /metrics', 'X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Host: localhost'],
      ['Forwarded: for=127.0.0.1'],
      ['Authorization: Basic Og=='],
      ['Authorization: Bearer'],
      ['Authorization: Bearer null'],
      ['Authorization: Bearer undefined'],
      [`Authorization: ${MASTER_KEY}`],
      [`Authorization: Bearer ${MASTER_KEY.slice(0, -1)}`],
      [`Proxy-Authorization: Bearer ${MASTER_KEY}`],
      [`Cookie: authorization=${MASTER_KEY}`],
    ])('%s is no credential', async (...headers) => {
      for (const path of ['/v1/models', '/ui/api/keys', '/health/deployments']) {
        expect((await rawRequest(base, { path, headers })).status).toBe(401)
      }
    })

    it('methods that no route has are not another one', async () => {
      for (const method of ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'GETX', 'get']) {
        const { status, text } = await rawRequest(base, { method, path: '/v1/models' })
        expect([400, 401, 404, 405, 501], `${method} ${text.slice(0, 100)}`).toContain(status)
        expect(text).not.toContain('"data"')
      }
    })
  })

  describe('hostile credentials and ids', () => {
    it.each([
      ...["' OR '1'='1", "'; DROP TABLE gateway_key; --", '\x00', `sk-${'\x00'.repeat(43)}`, `sk-${"'".repeat(43)}`],
      ...[`sk-${'A'.repeat(42)}é`, `sk-${'A'.repeat(43)}\n`, '\xed\xa0\x80', '\xff\xfe', '%00', '\\u0000', '$(id)'],
      ...['{{7*7}}', '__proto__', 'constructor', 'sk-', `sk-${'A'.repeat(43)}`, `sk-${'A'.repeat(8000)}`],
      ...[`sk-${'A'.repeat(65_536)}`, 'A'.repeat(65_536)],
    ])('the credential %j is refused', async (credential) => {
      for (const header of ['Authorization: Bearer ', 'Authorization: ', 'X-Api-Key: ']) {
        for (const [method, path] of [
          ['GET', '/v1/models'],
          ['GET', '/ui/api/keys'],
          ['POST', '/v1/messages'],
        ] as const) {
          const { status, text } = await rawRequest(base, { method, path, headers: [header + credential] })
          expect([400, 401, 431], text.slice(0, 200)).toContain(status)
        }
      }
    })

    const escaped = (id: string) =>
      Array.from(new TextEncoder().encode(id), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    const ids = [
      ...["'; DROP TABLE gateway_key; --", '../../metrics', '__proto__', '\u{1f4a3}', 'x'.repeat(3000), '*', ' '].map(
        escaped,
      ),
      ...['%ED%A0%80', '%ff', '%', '%zz', '%00', 'x'.repeat(60_000)],
    ]
    const withIds = closed.filter(({ auth, path }) => auth !== 'session' && path.includes('{'))
    it.each(withIds)('no id breaks $method $path', async ({ method, path }) => {
      const sent =
        method === 'get' || method === 'delete' ? [] : ['Content-Type: application/json', 'Content-Length: 0']
      for (const id of ids) {
        const { status, text } = await rawRequest(base, {
          method: method.toUpperCase(),
          path: path.replace(/\{\w+\}/g, id),
          headers: [`Authorization: Bearer ${MASTER_KEY}`, ...sent],
        })
        expect([200, 400, 404, 405, 409, 414, 431], `${id.slice(0, 60)} ${text.slice(0, 300)}`).toContain(status)
      }
    })

    it.each(["x' OR 1=1 --", '\0', '\ud800', '%', '%%%', '_', 'x'.repeat(2000)])(
      '%j is looked for, not run',
      async (text) => {
        for (const path of ['keys', 'teams', 'users', 'organizations']) {
          const response = await pair.gateways[0].fetch(
            `/ui/api/${path}?search=${escaped(text)}&cursor=${escaped(text)}`,
          )
          expect([200, 400]).toContain(response.status)
          await response.text()
        }
        expect((await pair.gateways[0].fetch('/ui/api/keys')).status).toBe(200)
      },
    )
  })

  describe('keys', () => {
    it('what a key is kept under is no credential, nor is its id', async () => {
      const hash = keyHasher(SALT_KEY)(family.key)
      for (const one of [hash, `sk-${hash}`, hash.slice(0, 43), `sk-${hash.slice(0, 43)}`, family.ids.key]) {
        expect(await statusOf(pair.gateways[0].fetch('/v1/models', { headers: as(one) }))).toBe(401)
      }
      expect(await statusOf(pair.gateways[0].fetch('/v1/models', { headers: as(family.key) }))).toBe(200)
    })

    it('that share their first or their last 42 characters are two', async () => {
      const most = 'Q'.repeat(42)
      const texts = [`sk-${most}A`, `sk-${most}E`, `sk-A${most}`, `sk-B${most}`]
      for (const [at, text] of texts.entries()) {
        const { key_id } = await pair.admin('POST', 'keys', { rpm_limit: 10 + at })
        const hash = keyHasher(SALT_KEY)(text)
        await pair.sql.query('UPDATE gateway_key SET key_hash = $1 WHERE key_id = $2', [hash, key_id])
      }
      for (const [at, text] of texts.entries()) {
        const response = await pair.gateways[at % 2 === 0 ? 0 : 1].fetch('/v1/models', { headers: as(text) })
        expect(response.headers.get('x-ratelimit-limit-requests')).toBe(String(10 + at))
      }
      expect(await statusOf(pair.gateways[0].fetch('/v1/models', { headers: as(`sk-${most}I`) }))).toBe(401)
    })
  })
})
