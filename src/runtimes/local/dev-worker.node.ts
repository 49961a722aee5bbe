import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ownKeys } from '../node/setup/own-keys.node.ts'
import { envFile, referencedVariables } from './env-file.node.ts'
import { startLocalStores } from './local-stores.node.ts'

// `npm run dev:worker` runs the Workers build under wrangler with local stores. It needs no account and no network.
const { PORT = '8787', GATEWAY_DATA_DIR = '.gateway', GATEWAY_MASTER_KEY, GATEWAY_SALT_KEY } = process.env
const keys = ownKeys(GATEWAY_DATA_DIR)
const stores = await startLocalStores({
  redis: process.env.REDIS_URL ?? 'none',
  databaseUrl: process.env.DATABASE_URL,
  folder: `${GATEWAY_DATA_DIR}/worker-postgres`,
  token: randomBytes(24).toString('base64url'),
  redisPort: 0,
  postgresPort: 0,
})
const variables = {
  ...referencedVariables(readFileSync('gateway.yaml', 'utf8'), process.env),
  ...stores.variables,
  GATEWAY_MASTER_KEY: GATEWAY_MASTER_KEY ?? keys.masterKey,
  GATEWAY_SALT_KEY: GATEWAY_SALT_KEY ?? keys.saltKey,
}
const file = envFile(variables)
const wrangler = spawn(
  'wrangler',
  ['dev', '--port', PORT, '--ip', '127.0.0.1', '--show-interactive-dev-session=false', '--env-file', file.path],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
  },
)
process.stdout.write(
  `key       ${variables.GATEWAY_MASTER_KEY}   (the master key, kept in ${GATEWAY_DATA_DIR}/keys.json)\n`,
)

// wrangler strikes a cron only when it is asked to.
const cron = `http://127.0.0.1:${PORT}/cdn-cgi/handler/scheduled?cron=${encodeURIComponent('* * * * *')}`
const strike = () => fetch(cron, { signal: AbortSignal.timeout(60_000) }).catch(() => undefined)
setInterval(strike, 60_000).unref()

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => wrangler.kill(signal))
wrangler.once('exit', async (code) => {
  file.remove()
  await stores.close()
  process.exit(code ?? 0)
})
