import { afterEach, describe, expect, it } from 'vitest'
import { deployWorker } from '../../../../src/runtimes/local/deploy/deploy-worker.node.ts'
import { neededVariables } from '../../../../src/runtimes/local/deploy/wanted.node.ts'
import { type Cloud, type FakeWrangler, fakeWrangler } from './fake-wrangler.node.ts'

const SECRETS = {
  REDIS_URL: 'https://canary-of-redis.example',
  REDIS_TOKEN: 'canary-of-the-redis-token',
  DATABASE_URL: 'postgres://me:canary-of-the-database@db.example/gateway',
  GATEWAY_MASTER_KEY: 'sk-canary-of-the-master-key-5b1c8e07a2d94f63',
  GATEWAY_SALT_KEY: 'canary-of-the-salt-key-5b1c8e07a2d94f63',
}
const QUEUES = ['gateway-work', 'gateway-logs', 'gateway-wake-ups', 'gateway-work-dead']
const ONE = [{ id: 'a1', name: 'Mine' }]
const ALL: Cloud = { accounts: ONE, buckets: ['gateway-blobs'], queues: QUEUES, secrets: Object.keys(SECRETS) }
const changing = /^(r2 bucket create|queues create|secret bulk|deploy --env)/

// Each runs a dozen programs, one after the other.
describe('a deployment to Workers', { timeout: 60_000 }, () => {
  let fake: FakeWrangler | undefined
  afterEach(() => fake?.remove())

  async function run(
    cloud: Cloud,
    operands: readonly string[] = [],
    env: Record<string, string> = SECRETS,
    ask?: (name: string) => Promise<string>,
  ) {
    fake = await fakeWrangler(cloud)
    let printed = ''
    const code = await deployWorker(operands, {
      env: { HOME: '/nowhere', PATH: `${fake.folder}:${process.env.PATH}`, ...env },
      ask,
      print: (text) => {
        printed += text
      },
    })
    const { commands } = fake
    const lines = commands.map(({ args }) => args.join(' '))
    // Whatever happens, a secret is on standard input alone.
    for (const shown of [printed, ...lines, JSON.stringify(commands.map(({ variables }) => variables))]) {
      expect(shown).not.toContain('canary')
    }
    return { code, printed, commands, lines, changes: lines.filter((line) => changing.test(line)) }
  }

  it('makes everything where there is nothing, and sends the secrets before the Worker starts', async () => {
    const { code, printed, commands, changes } = await run({ accounts: ONE })
    expect(printed).toContain('https://model-gateway.me.workers.dev, Worker Startup Time: 71 ms')
    expect(code).toBe(0)
    const patient = '--message-retention-period-secs 1209600'
    expect(changes).toEqual([
      'r2 bucket create gateway-blobs',
      `queues create gateway-work ${patient}`,
      `queues create gateway-logs ${patient}`,
      'queues create gateway-wake-ups',
      `queues create gateway-work-dead ${patient}`,
      'secret bulk --env=',
      'deploy --env=',
    ])
    const { input } = commands.find(({ args }) => args[1] === 'bulk') ?? { input: '{}' }
    expect(JSON.parse(input)).toEqual(SECRETS)
  })

  it('asks for no Redis where none is given: the shared store is a Durable Object', async () => {
    const { REDIS_URL: _url, REDIS_TOKEN: _token, ...others } = SECRETS
    const { code, commands } = await run({ accounts: ONE }, [], others)
    expect(code).toBe(0)
    expect(JSON.parse(commands.find(({ args }) => args[1] === 'bulk')?.input ?? '')).toEqual(others)
  })

  it('makes nothing where all is there, and deploys', async () => {
    const { code, printed, changes } = await run(ALL, [], {})
    expect(code).toBe(0)
    expect(changes).toEqual(['deploy --env='])
    expect(printed).toContain(`there: ${QUEUES.join(', ')}`)
    expect(printed).toContain('secrets       all there')
    expect(printed).toContain('it needs a key in GATEWAY_KEY')
  })

  it('leaves what is there, also where the list does not show it', async () => {
    const cloud = { ...ALL, buckets: [], queues: QUEUES.slice(1), unlisted: ['gateway-blobs', 'gateway-work'] }
    const { code, printed } = await run(cloud, [], {})
    expect(code).toBe(0)
    expect(printed).not.toContain('made:')
  })

  it('takes the things of an environment by its name', async () => {
    const { code, lines, changes } = await run({ accounts: ONE }, ['--env', 'staging', '--plan', 'free'])
    expect(code).toBe(0)
    expect(changes).toContain('r2 bucket create gateway-blobs-staging')
    expect(changes).toContain('queues create gateway-work-dead-staging --message-retention-period-secs 86400')
    expect(changes).toHaveLength(7)
    expect(changes.slice(-2)).toEqual(['secret bulk --env=staging', 'deploy --env=staging'])
    expect(lines).toContain('secret list --format json --env=staging')
  })

  it.each<[string, Cloud, string[], Record<string, string>, RegExp]>([
    ['nobody is logged in', {}, [], SECRETS, /not logged in.*npx wrangler login/],
    [
      'there are several accounts',
      { accounts: [...ONE, { id: 'b2', name: 'Ours' }] },
      [],
      SECRETS,
      /CLOUDFLARE_ACCOUNT_ID[\s\S]*b2 {2}Ours/,
    ],
    [
      'secrets are missing',
      { ...ALL, secrets: ['REDIS_URL', 'REDIS_TOKEN', 'DATABASE_URL'] },
      [],
      {},
      /lacks GATEWAY_MASTER_KEY, GATEWAY_SALT_KEY/,
    ],
    [
      'the store is given by TCP',
      { accounts: ONE },
      [],
      { ...SECRETS, REDIS_URL: 'redis://:canary@redis.example' },
      /REDIS_URL is not the REST address/,
    ],
    [
      'a variable is too large',
      { accounts: ONE },
      [],
      { ...SECRETS, REDIS_TOKEN: 'x'.repeat(5001) },
      /REDIS_TOKEN has 5001 bytes; Workers allows 5000/,
    ],
    ['a key is weak', { accounts: ONE }, [], { ...SECRETS, GATEWAY_MASTER_KEY: 'changeme' }, /master_key/],
    [
      'the bundle is too large',
      { ...ALL, scriptBytes: 3_100_000 },
      ['--plan', 'free'],
      {},
      /bundle, gzipped, takes 31\d+ bytes; Workers Free allows 3000000/,
    ],
    ['the plan is none', ALL, ['--plan', 'big'], {}, /free or paid/],
  ])('is refused where %s, and nothing was changed', async (_, cloud, operands, env, words) => {
    const { code, printed, changes } = await run(cloud, operands, env)
    expect(printed).toMatch(words)
    expect(code).toBe(2)
    expect(changes).toEqual([])
  })

  it('asks for what is missing where somebody can be asked', async () => {
    const asked: string[] = []
    const { code, commands } = await run(
      { ...ALL, secrets: ['REDIS_URL', 'REDIS_TOKEN', 'DATABASE_URL', 'GATEWAY_SALT_KEY'] },
      [],
      {},
      async (name) => {
        asked.push(name)
        return SECRETS.GATEWAY_MASTER_KEY
      },
    )
    expect(code).toBe(0)
    expect(asked).toEqual(['GATEWAY_MASTER_KEY'])
    const sent = commands.filter(({ args }) => args[1] === 'bulk').map(({ input }) => JSON.parse(input))
    expect(sent).toEqual([{ GATEWAY_MASTER_KEY: SECRETS.GATEWAY_MASTER_KEY }])
  })

  it('sends secrets once more only where it is told to', async () => {
    const env = { REDIS_TOKEN: SECRETS.REDIS_TOKEN }
    expect((await run(ALL, [], env)).changes).toEqual(['deploy --env='])
    fake?.remove()
    const { commands } = await run(ALL, ['--update-secrets'], env)
    expect(commands.find(({ args }) => args[1] === 'bulk')?.input).toBe(JSON.stringify(env))
  })

  it('fails with the reason of wrangler', async () => {
    const { code, printed } = await run({ ...ALL, deployFails: true }, [], {})
    expect(code).toBe(1)
    expect(printed).toMatch(/The deployment failed: .*\n?.*Script startup exceeded CPU time limit/)
    expect(printed).not.toContain('Logs were written')
  })

  it('fails where the smoke test does', async () => {
    const { code, printed } = await run(ALL, ['--url', 'http://127.0.0.1:1'], { GATEWAY_KEY: 'sk-canary-of-a-key' })
    expect(code).toBe(1)
    expect(printed).toMatch(/smoke test +http:\/\/127\.0\.0\.1:1$/m)
  })
})

it('can be tried without an account: the true bundle is built and measured, for an environment too', async () => {
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const code = await deployWorker(['--dry-run', '--env', 'staging'], { env: process.env, ask: undefined, print })
  expect(code, printed).toBe(0)
  expect(printed).toMatch(/^bundle +\d+\.\d KiB, [56]\d\d\.\d KiB gzipped; start \d+ ms of CPU here/m)
  expect(printed).toMatch(/^would run +wrangler r2 bucket create gateway-blobs-staging /m)
  expect(printed).toMatch(/^would run +wrangler deploy --env=staging$/m)
}, 120_000)

it('takes the keys along that are being replaced, where they are set', () => {
  const beside = {
    GATEWAY_SALT_KEY_PREVIOUS: 'former',
    GATEWAY_SALT_KEY_NEXT: '',
    GATEWAY_MASTER_KEY_PREVIOUS: 'former',
  }
  const [plain, rotating] = [{}, beside].map((env) => neededVariables('gateway.yaml', env))
  const added = rotating?.filter((name) => !plain?.includes(name))
  expect(added?.sort()).toEqual(['GATEWAY_MASTER_KEY_PREVIOUS', 'GATEWAY_SALT_KEY_PREVIOUS'])
  // Cloudflare refuses a secret of the name of a variable.
  const left = neededVariables('gateway.yaml', beside, { DATABASE_URL: 'x', GATEWAY_MASTER_KEY_PREVIOUS: 'x' })
  expect(left).toEqual(['GATEWAY_MASTER_KEY', 'GATEWAY_SALT_KEY', 'GATEWAY_SALT_KEY_PREVIOUS'])
})
