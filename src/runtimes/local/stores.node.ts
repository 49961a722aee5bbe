import { randomBytes } from 'node:crypto'
import { startLocalStores } from './local-stores.node.ts'

// `npm run local:stores` starts Redis and Postgres behind HTTP, for a Workers build on this machine.
const { REDIS_URL, DATABASE_URL, REDIS_TOKEN, GATEWAY_DATA_DIR = '.gateway' } = process.env
const stores = await startLocalStores({
  redis: REDIS_URL ?? 'own',
  databaseUrl: DATABASE_URL,
  folder: `${GATEWAY_DATA_DIR}/worker-postgres`,
  token: REDIS_TOKEN ?? randomBytes(24).toString('base64url'),
  redisPort: Number(process.env.REDIS_HTTP_PORT ?? 8079),
  postgresPort: Number(process.env.POSTGRES_HTTP_PORT ?? 8078),
})
for (const [name, value] of Object.entries(stores.variables)) process.stdout.write(`${name}=${value}\n`)

async function stop(): Promise<void> {
  await stores.close()
  process.exit(0)
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
