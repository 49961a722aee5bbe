import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import type { AdminApi } from '../../../../src/runtimes/node/commands/admin-api.ts'
import { runningGateway } from '../../../../src/runtimes/node/commands/running-gateway.ts'
import { type Sections, sectionsOf, textOf } from '../../../../src/runtimes/node/commands/transfer/document.ts'
import { kinds, sectionsIn } from '../../../../src/runtimes/node/commands/transfer/kinds.ts'
import { planOf, type Step, written } from '../../../../src/runtimes/node/commands/transfer/plan.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { freshDatabase } from '../../../support/postgres.ts'
import { withFullGateway } from '../../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')
const FILE = 'model_list:\n  - model_name: echo\n    gateway_params: { model: echo/echo }\n'
const SECRET = 'sk-canary-5f0c2d'
const ENV = { SECRET }
const NAMES = kinds.map(({ section }) => section)

const embedded = withFullGateway(FILE, { embedded: true })
const postgres = withFullGateway(async () => {
  if (!postgresUrl) return undefined
  return `general_settings: { database_url: '${await freshDatabase(postgresUrl)}' }\n${FILE}`
})
/** Where either will do: each statement costs the embedded database more. */
const cheaper = postgresUrl ? postgres : embedded
const apiOf = ({ url }: { readonly url: string }) => runningGateway(url, MASTER_KEY)

async function bring(api: AdminApi, text: string, options: Partial<Parameters<typeof planOf>[2]> = {}) {
  const replanned = () => planOf(api, sectionsOf(text, NAMES), { env: ENV, prune: false, resent: false, ...options })
  const plan = await replanned()
  if (plan.steps.some(({ outcome }) => outcome === 'refused')) return plan.steps
  return written(api, plan.steps, { replanned })
}
const outcomes = (steps: readonly Step[]) => [...new Set(steps.map(({ outcome }) => outcome))]
const mistakes = (steps: readonly Step[]) =>
  steps.flatMap((step) => step.mistakes.map(({ path, message }) => `${path}: ${message}`))
const exported = async (api: AdminApi) => textOf(await sectionsIn(api))
const withSecrets = (text: string) => text.replaceAll('"[secret]"', 'os.environ/SECRET')
const NOTHING = textOf(Object.fromEntries(NAMES.map((name) => [name, []])))

/** Records that name each other, with everything in them that YAML or SQL could take for something else. */
const sections = (): fc.Arbitrary<Sections> => {
  const id = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._@+:|~-]{0,12}$/)
  const label = fc.oneof(
    fc.constantFrom('yes', 'null', '0x10', '2027-01-01', '- a: b', ' # no comment', "'quoted'", 'a\nb\n', '[secrets]'),
    fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((text) => !text.includes('\u0000')),
  )
  const count = fc.option(fc.nat(1_000_000), { nil: undefined })
  const limits = {
    rpm_limit: count,
    tpd_limit: count,
    max_budget: fc.option(fc.constantFrom(0, 0.1, 10.5, 123456.789), { nil: undefined }),
    budget_duration: fc.constantFrom(undefined, '30d', '1mo'),
  }
  const metadata = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 5 }).filter((name) => name !== '__proto__'),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 3 },
  )
  const record = fc.record
  return fc
    .record({
      ids: fc.uniqueArray(id, { minLength: 6, maxLength: 6, selector: (text) => text.toLowerCase() }),
      organization: record({ organization_name: label, ...limits, metadata }),
      team: record({ team_name: label, ...limits, metadata, self_service_keys_enabled: fc.boolean() }),
      user: record({ user_name: label, ...limits }),
      key: record({
        key_name: label,
        ...limits,
        no_log_allowed: fc.boolean(),
        allowed_ips: fc.constantFrom(undefined, [], ['10.0.0.0/8', '::1']),
        expires_at: fc.constantFrom(undefined, '2027-01-01T00:00:00.000Z'),
        model_max_budget: fc.constantFrom(undefined, { 'a: b': 1.5 }),
      }),
      inTeam: fc.boolean(),
      note: label,
      text: label,
      weight: fc.constantFrom(undefined, 0, 0.25, 3),
      mode: fc.constantFrom(undefined, 'inherit', 'restrict'),
      enabled: fc.boolean(),
      state: fc.constantFrom(undefined, 'archived'),
      retries: fc.nat(5),
    })
    .map(({ ids, ...one }) => {
      const [organization_id, team_id, user_id, key_id, name, group] = ids as [string, ...string[]]
      const prompt = 'greeting'
      const messages = [{ role: 'system', content: `${one.text} {{name}}` }]
      return {
        credentials: [{ name: 'shared', provider: 'openai', gateway_params: { api_key: 'os.environ/SECRET' } }],
        models: [
          {
            deployment_id: `of-${name}`,
            model_name: name,
            gateway_params: { model: 'openai/gpt-5', api_key: SECRET, headers: { 'x-team': 'os.environ/SECRET' } },
            model_info: { tags: [one.text], weight: one.weight ?? 1 },
          },
          {
            deployment_id: `by-${name}`,
            model_name: name,
            gateway_params: { model: 'openai/gpt-5', credential: 'shared' },
          },
        ],
        mcp_servers: [
          {
            server_key: 'docs',
            base_url: 'https://docs.example.com/mcp',
            auth_mode: 'header_map',
            auth_headers: { 'x-key': 'os.environ/SECRET' },
            enabled: one.enabled,
          },
        ],
        route_groups: [{ name: `g-${group}`, members: [{ model_name: name, weight: one.weight }] }],
        prompts: [
          {
            key: prompt,
            description: one.note,
            state: one.state,
            labels: { production: 2 },
            versions: [{ messages }, { messages: [{ role: 'user', content: one.text }], note: one.note }],
          },
        ],
        policies: [{ group: `g-${group}`, policy: { num_retries: one.retries, hedge_after_ms: null } }],
        organizations: [{ organization_id, ...one.organization }],
        users: [{ user_id, ...one.user }],
        teams: [{ team_id, organization_id, ...one.team }],
        members: [
          { scope: 'organization', scope_id: organization_id, user_id, role: 'org_member' },
          { scope: 'team', scope_id: team_id, user_id, role: 'team_viewer' },
        ],
        keys: [{ key_id, user_id, ...(one.inTeam ? { team_id } : { organization_id }), ...one.key }],
        access: [
          {
            scope_type: 'api_key',
            scope_id: key_id,
            mode: one.mode,
            bindings: [
              { callable_key: name, enabled: one.enabled },
              { callable_kind: 'mcp_server', callable_key: 'docs' },
            ],
          },
        ],
      }
    })
    .map((made) => JSON.parse(JSON.stringify(made)) as Sections)
}

describe('export and import', () => {
  it.runIf(postgresUrl)(
    'what one installation exports makes another the same, whatever their databases; again it changes nothing',
    { timeout: 120_000 },
    async () => {
      let turn = 0
      await fc.assert(
        fc.asyncProperty(sections(), async (made) => {
          const both = [apiOf(embedded), apiOf(postgres)] as const
          const [from, to] = turn++ % 2 === 0 ? both : [both[1], both[0]]
          expect(mistakes(await bring(from, textOf(made)))).toEqual([])
          const text = await exported(from)
          expect(text).not.toContain(SECRET)
          expect(outcomes(await bring(to, withSecrets(text)))).toEqual(['created'])
          expect(await exported(to)).toBe(text)
          expect(outcomes(await bring(to, text, { prune: true }))).toEqual(['unchanged'])
          expect(outcomes(await bring(from, withSecrets(text)))).toEqual(['unchanged'])
          for (const api of both) {
            expect(mistakes(await bring(api, NOTHING, { prune: true }))).toEqual([])
            expect(await exported(api)).toBe(NOTHING)
          }
        }),
        // An installation that a failure left behind is not empty.
        { numRuns: 2, endOnFailure: true },
      )
    },
  )

  const at = (yaml: string) => `format: model-gateway/1\n${yaml}`

  it('writes nothing unless all of the file can be written, and says where it is wrong', async () => {
    const api = apiOf(cheaper)
    const before = await exported(api)
    const refused = await bring(
      api,
      at(`
models:
  - { deployment_id: a, model_name: a, gateway_params: { model: nobody/gpt } }
  - { deployment_id: b, model_name: b, gateway_params: { model: openai/gpt-5, api_key: '[secret]' } }
  - { deployment_id: c, model_name: c, gateway_params: { model: openai/gpt-5, api_key: os.environ/NOT_SET } }
  - { deployment_id: d, model_name: d, gateway_params: { model: openai/gpt-5, credential: nobody } }
teams:
  - { team_id: sound }
  - { team_id: t, organization_id: nowhere }
  - { team_id: u, rpm_limt: 5 }
  - { team_id: v, rpm_limit: -1 }
  - { team_id: v }
  - { team_name: nameless }
policies:
  - { group: nobody, policy: { num_retries: 1 } }
access:
  - { scope_type: team, scope_id: sound, bindings: [{ callable_kind: mcp_server, callable_key: nobody }] }
`),
    )
    expect(mistakes(refused).map((line) => line.replace(/(: [^:]{12}).*/s, '$1'))).toMatchInlineSnapshot(`
      [
        "models[0].gateway_params.model: must have th",
        "models[1].gateway_params.api_key: stands for a",
        "models[2].gateway_params.api_key: refers to th",
        "models[3].gateway_params.credential: names 'nobod",
        "policies[0].group: there is no ",
        "teams[1].organization_id: there is no ",
        "teams[2].rpm_limt: is no field ",
        "teams[3]: stands twice",
        "teams[5].team_id: is required: it names the",
        "access[0].bindings[0].callable_key: there is no ",
      ]
    `)
    expect(mistakes(refused).join('\n')).toContain('models[1].gateway_params.api_key: stands for a secret')
    expect(await exported(api)).toBe(before)
  })

  it('changes the fields that differ, keeps secrets, and removes nothing without --prune', async () => {
    const api = apiOf(cheaper)
    const model = (params: string, more = '') =>
      `models: [{ deployment_id: m, model_name: m, gateway_params: { model: openai/gpt-5, ${params} } ${more} }]\n`
    await bring(
      api,
      at(`${model('api_key: first')}teams: [{ team_id: one, rpm_limit: 5, metadata: { a: null } }, { team_id: two }]`),
    )
    const fields = async (text: string, options = {}) => {
      const steps = await bring(api, at(text), options)
      return steps.map(({ name, outcome, fields: changed, mistakes: wrong }) => [name, outcome, ...changed, ...wrong])
    }
    expect(await fields(`teams: [{ team_id: one, tpm_limit: 7, metadata: { a: null } }]`)).toEqual([
      ['one', 'changed', 'rpm_limit', 'tpm_limit'],
    ])
    expect(await fields(model('api_key: other'))).toEqual([['m', 'unchanged']])
    expect(await fields(model("api_key: '[secret]'", ', model_info: { tags: [x] }'))).toEqual([
      ['m', 'changed', 'model_info'],
    ])
    expect(await fields(model('api_key: other'), { resent: true })).toEqual([
      ['m', 'changed', 'gateway_params', 'model_info'],
    ])
    expect(await fields(model("api_key: '[secret]', api_base: 'https://elsewhere.example.com'"))).toEqual([
      [
        'm',
        'refused',
        { path: 'models[0].gateway_params.api_key', message: expect.stringContaining('another provider or address') },
      ],
    ])
    const server = (url: string) => `mcp_servers: [{ server_key: keyed, base_url: '${url}' }]\n`
    const masked = 'https://docs.example.com/mcp?key=[secret]'
    expect(await fields(server(masked))).toMatchObject([
      [
        'keyed',
        'refused',
        { path: 'mcp_servers[0].base_url', message: expect.stringContaining('stands for a secret') },
      ],
    ])
    await bring(api, at(server('https://docs.example.com/mcp?key=first')))
    expect(await exported(api)).toContain(masked)
    for (const url of [masked, masked.replace('[secret]', 'other'), 'os.environ/NOT_SET'])
      expect(await fields(server(url))).toEqual([['keyed', 'unchanged']])
    expect(await fields(server('https://docs.example.com/else?key=first'))).toEqual([['keyed', 'changed', 'base_url']])
    expect(await fields(`teams: [{ team_id: one, tpm_limit: 7, metadata: { a: null } }]`, { prune: true })).toEqual([
      ['one', 'unchanged'],
      ['two', 'removed'],
    ])
    expect(await fields(model("api_key: '[secret]'"), { prune: true })).toEqual([['m', 'unchanged']])
    await bring(api, NOTHING, { prune: true })
  })

  describe('an import that fails in the middle', { timeout: 180_000 }, () => {
    const wanted = at(`
credentials: [{ name: shared, provider: openai, gateway_params: { api_key: os.environ/SECRET } }]
models:
  - { deployment_id: m, model_name: m, gateway_params: { model: openai/gpt-5, credential: shared } }
mcp_servers: [{ server_key: docs, base_url: 'https://docs.example.com/mcp' }]
route_groups: [{ name: g, members: [{ model_name: m }] }]
prompts:
  - key: p
    state: archived
    labels: { production: 2 }
    versions: [{ messages: [{ role: user, content: one }] }, { messages: [{ role: user, content: two }] }]
policies: [{ group: g, policy: { num_retries: 2 } }]
organizations: [{ organization_id: acme }]
teams: [{ team_id: red, organization_id: acme }]
keys: [{ key_id: ci, team_id: red }]
access: [{ scope_type: api_key, scope_id: ci, bindings: [{ callable_key: m }, { callable_key: g }] }]
`)
    const isWrite = (method: string) => method !== 'GET'

    /** The admin API, whose write of this number goes wrong. */
    function failing(api: AdminApi, number: number, way: 'refused' | 'answer lost' | 'gone') {
      let writes = 0
      const request: AdminApi['request'] = async (method, path, body) => {
        if (isWrite(method)) writes += 1
        if (writes < number) return api.request(method, path, body)
        if (way === 'gone') throw new Error('http://gateway cannot be reached (ECONNREFUSED).')
        if (!isWrite(method) || writes > number) return api.request(method, path, body)
        if (way === 'refused') return { status: 503, body: { error: { message: 'The database is away.' } } }
        await api.request(method, path, body)
        throw new Error('http://gateway cannot be reached (ECONNRESET).')
      }
      return { api: { ...api, request }, hasFailed: () => writes >= number }
    }
    const named = (steps: readonly Step[], ...which: readonly Step['outcome'][]) =>
      steps.filter(({ outcome }) => which.includes(outcome)).map(({ kind, name }) => `${kind.section} ${name}`)

    // Every second write fails once, in one way or another.
    it.each([
      ['refused', 1],
      ['answer lost', 3],
      ['gone', 5],
    ] as const)('%s: says what is there, and is gone on with', async (way, first) => {
      const api = apiOf(cheaper)
      for (let number = first; ; number += 6) {
        const line = failing(api, number, way)
        const steps = await bring(line.api, wanted)
        if (!line.hasFailed()) break
        const { steps: left } = await planOf(api, sectionsOf(wanted, NAMES), { env: ENV, prune: false, resent: false })
        expect(named(left, 'created', 'changed'), `write ${number}`).toEqual(named(steps, 'failed', 'left'))
        expect(named(left, 'unchanged')).toEqual(named(steps, 'created'))
        expect(named(steps, 'failed').length).toBeLessThanOrEqual(1)
        expect(mistakes(await bring(api, wanted))).toEqual([])
        expect(outcomes(await bring(api, wanted))).toEqual(['unchanged'])
        await bring(api, NOTHING, { prune: true })
        expect(await exported(api)).toBe(NOTHING)
      }
      await bring(api, NOTHING, { prune: true })
    })
  })

  it('a version of a prompt never changes', async () => {
    const api = apiOf(cheaper)
    const prompt = (...texts: string[]) =>
      at(
        `prompts: [{ key: p, versions: [${texts.map((text) => `{ messages: [{ role: user, content: ${text} }] }`)}] }]`,
      )
    expect(outcomes(await bring(api, prompt('one')))).toEqual(['created'])
    expect(outcomes(await bring(api, prompt('one', 'two')))).toEqual(['changed'])
    expect(mistakes(await bring(api, prompt('other', 'two')))).toEqual([
      expect.stringMatching(/^prompts\[0\]\.versions\[0\]: is another one in the installation/),
    ])
    await bring(api, NOTHING, { prune: true })
  })

  it('persons, their memberships and their keys stay outside', async () => {
    const api = apiOf(cheaper)
    await cheaper.sql.query({
      sql: `WITH person AS (INSERT INTO gateway_user (user_id, user_email) VALUES ('ann', 'ann@example.com'))
        INSERT INTO gateway_account (account_id, user_id, email, email_key, platform_role)
        VALUES ('acc-ann', 'ann', 'ann@example.com', 'ann@example.com', 'org_user')`,
      parameters: [],
    } as never)
    await bring(api, at('organizations: [{ organization_id: acme }]'))
    const post = (path: string, body: object) => api.request('POST', path, body)
    await post('/ui/api/organizations/acme/members', { user_id: 'ann', role: 'org_member' })
    await post('/ui/api/keys', { key_id: 'of-ann', user_id: 'ann', organization_id: 'acme' })
    const text = await exported(api)
    expect(text).not.toContain('ann')
    const { steps } = await planOf(api, sectionsOf(NOTHING, NAMES), { env: {}, prune: true, resent: false })
    expect(steps.map(({ kind, name }) => `${kind.section} ${name}`)).toEqual(['organizations acme'])
  })

  it('a file of another format is refused', () => {
    expect(() => sectionsOf('format: model-gateway/2\n', NAMES)).toThrow("format: is 'model-gateway/2'")
    expect(() => sectionsOf('teams: []\n', NAMES)).toThrow('format: is none')
    expect(() => sectionsOf('format: model-gateway/1\nteam: []\n', NAMES)).toThrow('team: is no section')
    expect(() => sectionsOf('format: model-gateway/1\nteams: [1]\n', NAMES)).toThrow('teams[0]: must be a map')
    expect(() => sectionsOf('format: "sk-secret\n', NAMES)).toThrow(
      /^line 2, column \d+: this is not valid YAML \(\w+\)$/,
    )
  })
})
