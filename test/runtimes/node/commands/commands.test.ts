import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { builtGateway } from '../../../support/built-gateway.ts'
import { preparedDatabaseIn } from '../../../support/embedded-database.node.ts'
import { MASTER_KEY } from '../../../support/gateway.ts'
import { type Place, place } from '../gateway-process.ts'

const YAML = 'model_list:\n  - model_name: echo\n    gateway_params: { model: echo/echo }\n'
const OWNER = { email: 'ann@example.com', password: 'correct-horse-battery' }
const ADMIN = {
  general_settings: {
    platform_bootstrap_admin_email: OWNER.email,
    platform_bootstrap_admin_password: OWNER.password,
  },
}

let here: Place
beforeEach(async () => {
  here = await place()
  await mkdir(join(here.folder, 'data'))
  await preparedDatabaseIn(join(here.folder, 'data/postgres'))
  await writeFile(join(here.folder, 'gateway.yaml'), YAML)
})
afterEach(() => here.clear())

interface Outcome {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** `model-gateway …` as an operator runs it, in the place of the gateway. */
async function command(operands: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const { program, compiled } = await builtGateway()
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...operands],
      {
        env: {
          PATH: process.env.PATH ?? '',
          NODE_COMPILE_CACHE: compiled,
          GATEWAY_CONFIG: join(here.folder, 'gateway.yaml'),
          GATEWAY_DATA_DIR: join(here.folder, 'data'),
          GATEWAY_MASTER_KEY: MASTER_KEY,
          ...env,
        },
      },
      (error, output, errors) => resolve({ code: Number(error?.code ?? 0), output, errors }),
    )
  })
}

describe('commands on the stores of an installation', { timeout: 60_000 }, () => {
  it('a key that was made without a gateway works in the next one, within its limits, and the audit has it', async () => {
    const asked = 'keys create --name ci --models echo --rpm 1 --max-budget 10/30d --expires 90d'.split(' ')
    const made = await command(asked)
    expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/^sk-\S{40,}\n$/) })
    const key = made.output.trim()
    expect(made.errors).toMatch(/^key-\S+ /)
    expect(made.errors).not.toContain(key)

    const gateway = await here.start({ yaml: YAML })
    await gateway.greeted()
    const call = () => gateway.chat({ model: 'echo' }, { headers: { authorization: `Bearer ${key}` } })
    expect((await call()).status).toBe(200)
    expect((await call()).status).toBe(429)
    const id = /^key-\S+/.exec(made.errors)?.[0]
    expect(await (await gateway.fetch(`/ui/api/keys/${id}`)).json()).toMatchObject({
      key_name: 'ci',
      max_budget: 10,
      budget_duration: '30d',
      rpm_limit: 1,
      expires_at: expect.any(String),
    })
    expect(await (await gateway.fetch(`/ui/api/keys/${id}/model-access`)).json()).toMatchObject({ models: ['echo'] })
    const audit = await (await gateway.fetch('/ui/api/audit/events?limit=10')).json()
    expect((audit as { data: unknown[] }).data).toContainEqual(
      expect.objectContaining({ actor_type: 'master_key', action: 'key.create', resource_id: id }),
    )

    // The embedded database belongs to the gateway now, which is asked instead.
    const held = await command(['keys', 'list'])
    expect(held).toMatchObject({ code: 1, output: '' })
    expect(held.errors).toContain(`A gateway (process ${gateway.pid}) is running on the embedded database`)
    expect(held.errors).toContain('--url http://localhost:8787,')
    const elsewhere = await command(['keys', 'list'], { PORT: '9123' })
    expect(elsewhere.errors).toContain('--url http://localhost:9123,')
    const url = ['--url', await gateway.base()]
    expect((await command(['keys', 'list', ...url])).output).toContain(`${id}  active  -  ci\n`)
    expect((await command(['keys', 'revoke', String(id), ...url])).output).toBe(`${id} is revoked.\n`)
    expect((await call()).status).toBe(401)
    expect((await command(['export', ...url])).output).toMatch(/^# Records.*\nformat: model-gateway\/1\n/s)
  })

  it('a person gets a new password by a link that works once; their sessions end', async () => {
    const gateway = await here.start({
      yaml: `${YAML}${JSON.stringify(ADMIN).slice(1, -1).replace('"general_settings":', 'general_settings: ')}\n`,
    })
    await gateway.greeted()
    const post = async (path: string, body: object, headers = {}) =>
      fetch((await gateway.base()) + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const login = await post('/auth/internal/login', OWNER)
    expect(login.status).toBe(200)
    const cookie = String(login.headers.get('set-cookie')).split(';')[0] as string
    const url = ['--url', await gateway.base()]
    const given = await command(['accounts', 'reset-password', 'Ann@example.com', ...url])
    expect(given).toMatchObject({ code: 0, output: expect.stringContaining(`${url[1]}/console/reset#`) })
    expect(given.errors).toContain('1 session was ended')
    const me = await fetch(`${url[1]}/auth/me`, { headers: { cookie } })
    expect(await me.json()).toMatchObject({ authenticated: false })
    const reset = { token: given.output.trim().split('#')[1], new_password: 'another-horse-battery' }
    expect((await post('/auth/internal/reset-password', reset)).status).toBe(200)
    expect((await post('/auth/internal/reset-password', reset)).status).toBe(400)
    expect((await post('/auth/internal/login', { ...OWNER, password: reset.new_password })).status).toBe(200)
    const audit = await (await gateway.fetch('/ui/api/audit/events?limit=20')).json()
    expect(JSON.stringify(audit)).toContain('account.issue_password_reset')
    expect(JSON.stringify(audit)).not.toContain(reset.token)
    const nobody = await command(['accounts', 'reset-password', 'bob@example.com', ...url])
    expect(nobody).toMatchObject({ code: 1, errors: 'There is no account with the address bob@example.com.\n' })
  })

  it('what is called wrongly says how it is called: exit code 2', async () => {
    for (const [said, ...operands] of [
      ['There is no option --colour', 'keys', 'create', '--colour', 'red'],
      ['There is no command keys toString', 'keys', 'toString'],
      ['Say what to do with keys', 'keys'],
      ['--rpm wants a value', 'keys', 'create', '--rpm', '--json'],
      ['--json takes no value', 'doctor', '--json=1'],
      ['Name the account by its e-mail address', 'accounts', 'reset-password'],
      ['--url wants an address such as http://localhost:8787', 'export', '--url', 'localhost'],
      ['There is one argument too many: b.yaml.', 'check', 'a.yaml', 'b.yaml'],
      ['There is one argument too many: --force.', 'init', '--force'],
      ['There is no option --frob', 'smoke', '--frob'],
    ] as const) {
      const { code, errors, output } = await command(operands)
      expect(code, operands.join(' ')).toBe(2)
      expect(errors).toMatch(new RegExp(`^${said.replaceAll('?', '\\?')}\n\nUsage: model-gateway ${operands[0]}`))
      expect(output).toBe('')
    }
    expect(await command(['import', 'nope.yaml'])).toMatchObject({ code: 1, errors: 'There is no file nope.yaml.\n' })
  })
})
