import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import * as postgres from '../support/postgres.ts'
import { answering, atEnd, freePort, LOAD_CORE, pin, SERVER_CORE, start } from './processes.ts'
import type { Place } from './targets/target.ts'
import { MODEL } from './wire.ts'

/** Our gateway in a process of its own. */
export interface GatewayServer {
  readonly root: string
  /** Those of the master key. */
  readonly headers: Readonly<Record<string, string>>
  readonly pid: number
  /** Where V8's inspector listens, if it was asked for. */
  readonly inspectorPort: number | undefined
}

export async function startGateway(
  place: Place,
  env: Readonly<Record<string, string>> = {},
  log = join(place.folder, 'gateway.log'),
): Promise<GatewayServer> {
  const { child, ...server } = await spawnGateway(place, env, log)
  await answering(`${server.root}/health/readiness`, child, log)
  return server
}

/** One for all gateways of a run: some are started again on a database that another has set up. */
const SALT_KEY = randomBytes(32).toString('base64url')

/** The same, not waited for. */
export async function spawnGateway(
  { folder, upstreamUrl, inspected, gatewaySettings }: Place,
  env: Readonly<Record<string, string>> = {},
  log = join(folder, 'gateway.log'),
) {
  const port = await freePort()
  const inspectorPort = inspected ? await freePort() : undefined
  const config = join(folder, 'gateway.yaml')
  const masterKey = newKey()
  await writeFile(config, configuration(upstreamUrl, gatewaySettings))
  const program = new URL('../../src/node.ts', import.meta.url).pathname
  const inspecting = inspectorPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectorPort}`]
  const child = start(process.execPath, [...flagsOfStart(), ...inspecting, program], {
    core: SERVER_CORE,
    log,
    cwd: folder,
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      GATEWAY_CONFIG: config,
      GATEWAY_DATA_DIR: join(folder, 'data'),
      GATEWAY_MASTER_KEY: masterKey,
      GATEWAY_SALT_KEY: SALT_KEY,
      ...env,
    },
  })
  return { root: `http://127.0.0.1:${port}`, headers: bearer(masterKey), pid: child.pid, inspectorPort, child }
}

/** Those that `npm start` gives to Node. */
function flagsOfStart(): string[] {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return (manifest.scripts.start as string).split(' ').filter((word) => word.startsWith('--'))
}

/** A Redis that is not measured, as if it were on another machine. */
export async function startRedis({ folder }: Place): Promise<{ readonly url: string; readonly pid: number }> {
  const port = await freePort()
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
  const { pid } = start('redis-server', args, { core: LOAD_CORE, log: join(folder, 'redis.log') })
  return { url: `redis://127.0.0.1:${port}`, pid }
}

let cluster: Promise<postgres.PostgresServer | undefined> | undefined

/** A new database of a PostgreSQL that is not measured, as if it were on another machine. */
export async function startPostgres(): Promise<string> {
  cluster ??= postgres.startPostgres()
  const server = await cluster
  if (!server) throw new Error('PostgreSQL is not installed')
  pin(server.pid, LOAD_CORE)
  // No call waits for it. Elsewhere it would not keep the load and the far end waiting either.
  setPriority(server.pid, constants.priority.PRIORITY_LOW)
  atEnd('postgres', server.stop)
  return postgres.freshDatabase(server.url)
}

/** How many streams a key may have at once. */
export const SLOTS = 1000

const LIMITS = {
  rpm_limit: 100_000_000,
  rph_limit: 1_000_000_000,
  rpd_limit: 10_000_000_000,
  tpm_limit: 100_000_000_000,
  tpd_limit: 1_000_000_000_000,
  max_budget: 1_000_000,
  budget_duration: '30d',
}

/** A virtual key whose organization, team, user and itself have every limit and a budget. */
export async function governedKey(
  { root, headers }: Pick<GatewayServer, 'root' | 'headers'>,
  name = 'bench',
  slots = SLOTS,
): Promise<string> {
  const make = async (what: string, body: object) => {
    const response = await fetch(`${root}/ui/api/${what}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...LIMITS, ...body }),
    })
    if (response.status !== 201) throw new Error(`no ${what}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { key: string }
  }
  await make('organizations', { organization_id: name })
  await make('teams', { team_id: name, organization_id: name })
  await make('users', { user_id: name })
  const { key } = await make('keys', { team_id: name, user_id: name, max_parallel_requests: slots })
  return key
}

export const newKey = (): string => `sk-${randomBytes(32).toString('base64url')}`
export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

export const configuration = (
  upstreamUrl: string,
  gatewaySettings: object = {},
): string => `gateway_settings: ${JSON.stringify(gatewaySettings)}
# Some loads have failures in them, which must not take the only deployment away.
router_settings:
  cooldown_time: 0
model_list:
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
