import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answering, freePort, SERVER_CORE, start } from '../processes.ts'
import { MODEL } from '../wire.ts'
import type { Place, Running, Target } from './target.ts'

/** Ours as it comes: everything in one process, called with the master key. */
export const gateway: Target = {
  name: 'gateway',
  start: (place) => startGateway(place, {}).then(({ running }) => running),
}

/** The same with its shared state in Redis. */
export const gatewayRedis: Target = {
  name: 'gateway-redis',
  start: (place) => startOverRedis(place).then(({ running }) => running),
}

/** Ours as it is run: a virtual key, limits and budgets of its organization, team, user and of its own, the ledger. */
export const gatewayKey: Target = {
  name: 'gateway-key',
  start: async (place) => governed(await startGateway(place, {})),
}

/** The same, every call decided and settled in Redis. */
export const gatewayKeyRedis: Target = {
  name: 'gateway-key-redis',
  start: async (place) => governed(await startOverRedis(place)),
}

const LIMITS = {
  rpm_limit: 100_000_000,
  rph_limit: 1_000_000_000,
  rpd_limit: 10_000_000_000,
  tpm_limit: 100_000_000_000,
  tpd_limit: 1_000_000_000_000,
  max_budget: 1_000_000,
  budget_duration: '30d',
}

async function governed({ running, root }: { running: Running; root: string }): Promise<Running> {
  const make = async (what: string, body: object) => {
    const response = await fetch(`${root}/ui/api/${what}`, {
      method: 'POST',
      headers: { ...running.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...LIMITS, ...body }),
    })
    if (response.status !== 201) throw new Error(`no ${what}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { key: string }
  }
  await make('organizations', { organization_id: 'bench' })
  await make('teams', { team_id: 'bench', organization_id: 'bench' })
  await make('users', { user_id: 'bench' })
  const { key } = await make('keys', { team_id: 'bench', user_id: 'bench' })
  return { ...running, headers: { authorization: `Bearer ${key}` } }
}

async function startOverRedis(place: Place): Promise<{ running: Running; root: string }> {
  const port = await freePort()
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
  const redis = start('redis-server', args, { core: SERVER_CORE, log: join(place.folder, 'redis.log') })
  const { running, root } = await startGateway(place, { REDIS_URL: `redis://127.0.0.1:${port}` })
  return { running: { ...running, pids: [...running.pids, redis.pid] }, root }
}

async function startGateway(place: Place, env: Record<string, string>): Promise<{ running: Running; root: string }> {
  const port = await freePort()
  const config = join(place.folder, 'gateway.yaml')
  const log = join(place.folder, 'gateway.log')
  const masterKey = `sk-${randomBytes(32).toString('base64url')}`
  await writeFile(config, configuration(place.upstreamUrl))
  const program = new URL('../../../src/node.ts', import.meta.url).pathname
  const child = start(process.execPath, [program], {
    core: SERVER_CORE,
    log,
    cwd: place.folder,
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      NODE_ENV: 'production',
      GATEWAY_CONFIG: config,
      GATEWAY_DATA_DIR: join(place.folder, 'data'),
      GATEWAY_MASTER_KEY: masterKey,
      GATEWAY_SALT_KEY: randomBytes(32).toString('base64url'),
      ...env,
    },
  })
  const root = `http://127.0.0.1:${port}`
  await answering(`${root}/health/readiness`, child, log)
  const headers = { authorization: `Bearer ${masterKey}` }
  return { running: { url: `${root}/v1`, headers, pids: [child.pid] }, root }
}

const configuration = (upstreamUrl: string) => `model_list:
  - model_name: ${MODEL}
    gateway_params:
      provider: openai-compatible
      model: openai-compatible/bench
      api_base: ${upstreamUrl}
      api_key: sk-bench-upstream
    model_info:
      input_cost_per_token: 0.0000001
      output_cost_per_token: 0.0000004
`
