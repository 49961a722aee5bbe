import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { startPostgresOverHttp } from '../../src/runtimes/local/postgres-over-http.node.ts'
import { startRedisOverHttp } from '../../src/runtimes/local/redis-over-http.node.ts'
import { startMcpServer } from './mcp-server.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { makeRunFolder } from './run-folder.ts'
import { startUpstream } from './scripted-upstream.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** `redis://…` of a real redis-server, '' where this machine has none. */
    redisUrl: string
    /** The same one, spoken to as Upstash is. */
    redisHttpUrl: string
    redisHttpToken: string
    /** `postgres://…` of a real server, '' where this machine has none. */
    postgresUrl: string
    /** The same one, spoken to as Neon is: the address of its `/sql` endpoint. */
    postgresHttpUrl: string
    /** The scripted upstream, for suites that run where no server can be started. */
    upstreamUrl: string
    /** A server of managed tools, for the same suites. */
    mcpServerUrl: string
  }
}

/** Starts the real servers once for all suites. In CI a missing one is a failure. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  // Installing builds it; a folder whose packages came in another way has none.
  if (!existsSync('build/console/shell.html')) {
    await promisify(execFile)(process.execPath, ['src/runtimes/local/build-console.node.ts'])
  }
  const run = await makeRunFolder()
  const redis = await startRedis()
  const postgres = await startPostgres()
  const upstream = await startUpstream()
  const mcpServer = await startMcpServer()
  const token = 'test-token'
  const redisHttp = redis && (await startRedisOverHttp({ redisUrl: redis.url, port: 0, token }))
  const postgresHttp = postgres && (await startPostgresOverHttp({ postgresUrl: postgres.url, port: 0 }))

  provide('redisUrl', redis?.url ?? '')
  provide('redisHttpUrl', redisHttp?.url ?? '')
  provide('redisHttpToken', token)
  provide('postgresUrl', postgres?.url ?? '')
  provide('postgresHttpUrl', postgresHttp?.url ?? '')

  provide('upstreamUrl', upstream.url)
  provide('mcpServerUrl', mcpServer.url)
  provide('runFolder', run.folder)

  return async () => {
    await upstream.close()
    await mcpServer.close()
    await redisHttp?.close()
    await postgresHttp?.close()
    await redis?.stop()
    await postgres?.stop()
    await run.remove()
  }
}
