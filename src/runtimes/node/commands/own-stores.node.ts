import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../../app.ts'
import { FolderHeldError } from '../../../lib/folder-lock.node.ts'
import { jsonLog } from '../../../lib/log.ts'
import { reveal } from '../../../lib/secret.ts'
import type { Client } from '../../../pipeline/client.ts'
import { createServices } from '../../../services.ts'
import { nodeAdapters } from '../setup/adapters.node.ts'
import { nodeConfig } from '../setup/config.node.ts'
import { SCHEMA } from '../setup/places.node.ts'
import { nodeSettings } from '../setup/settings.node.ts'
import type { AdminApi, Environment, Method } from './admin-api.ts'

/** The time for writing the audit of a command. */
const RECORDS_MS = 10_000

/** The gateway of this configuration over its stores, within this process: it listens nowhere, calls no provider and does
 *  no work by the clock. Throws if a running gateway has the embedded database. */
export async function ownStores(env: Environment): Promise<AdminApi> {
  const { configPath, dataFolder, port } = nodeSettings(env)
  process.umask(0o077)
  const { config } = nodeConfig(configPath, dataFolder, env)
  const { master_key: masterKey } = config.general_settings
  if (!masterKey) throw new Error('The configuration has no master key. Set GATEWAY_MASTER_KEY.')
  const log = jsonLog('warn', (line) => process.stderr.write(`${line}\n`))
  const adapters = await nodeAdapters(config, {
    dataFolder,
    schemaText: readFileSync(SCHEMA, 'utf8'),
    log,
  }).catch((error) => {
    throw error instanceof FolderHeldError ? new Error(held(join(dataFolder, 'postgres'), error, port)) : error
  })
  try {
    await adapters.ready
  } catch (error) {
    await adapters.close()
    throw error
  }
  const services = createServices(config, { ...adapters, draining: () => false })
  const app = createApp(services)
  const deferred: Promise<unknown>[] = []
  return {
    async request(method, path, body) {
      const headers = {
        authorization: `Bearer ${reveal(masterKey)}`,
        'user-agent': 'model-gateway command line',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }
      const bytes = body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body))
      const request = new Request(`http://localhost${path}`, { method: method satisfies Method, headers })
      const response = await app.fetch(request, { client: clientWith(bytes, (work) => deferred.push(work)) })
      return { status: response.status, body: await response.json() }
    },
    async close() {
      // What is deferred may defer more.
      for (let done = 0; done < deferred.length; done = deferred.length) await Promise.allSettled(deferred)
      const lost = await services.delivery.drain(RECORDS_MS)
      await services.sinks.drain(RECORDS_MS)
      await services.toolServers.end()
      await adapters.close()
      if (lost > 0) process.stderr.write(`The audit of this command could not be written (${lost} records).\n`)
    },
  }
}

/** A client inside this process, which sends its body at once and never leaves. */
function clientWith(body: Uint8Array | undefined, defer: (work: Promise<unknown>) => void): Client {
  const { signal } = new AbortController()
  const unused = () => {
    throw new TypeError('a command sends no upload and reads no stream')
  }
  return {
    signal,
    address: '',
    defer,
    body: async () => body ?? new Uint8Array(),
    ended: (listener) => queueMicrotask(listener),
    upload: unused,
    openStream: unused,
  }
}

function held(folder: string, { holder }: FolderHeldError, port: number): string {
  return [
    `A gateway (process ${holder}) is running on the embedded database ${folder}, which belongs to one process.`,
    `Stop it, or send the command to it: --url http://localhost:${port}, with its master key in GATEWAY_KEY.`,
  ].join('\n')
}
