import { beforeAll, describe, expect, it } from 'vitest'
import { buildWorker, type WorkerBundle } from '../../../src/runtimes/local/build-worker.node.ts'
import { workerModules } from './support/built-once.ts'
import type { WorkerModules } from './support/worker-modules.ts'

/** What the runtime brings itself, and why we lean on it. */
const ALLOWED = new Map([
  ['node:buffer', 'whether bytes are UTF-8, without decoding them; the Web platform cannot be asked that'],
  ['node:crypto', 'keyed hashes and comparison in constant time, without waiting; WebCrypto has neither'],
  ['node:zlib', 'zstd, which compression streams do not have'],
  [
    'cloudflare:workers',
    'work that outlives an answer, from where no request is at hand; the class of Durable Objects',
  ],
])
const KEPT_OUT = ['undici', 'pg', 'pg-protocol', '@electric-sql/pglite', '@redis/client', '@hono/node-server', 'zod/v3']

describe('the bundle of the worker', () => {
  let bundle: WorkerBundle
  let modules: WorkerModules

  beforeAll(async () => {
    bundle = buildWorker()
    modules = await workerModules()
  })

  it('is at most 668 KiB gzipped', () => {
    expect(bundle.gzipBytes).toBeGreaterThan(50 * 1024)
    expect(bundle.gzipBytes).toBeLessThanOrEqual(668 * 1024)
  })

  it('imports nothing but its own texts and what the runtime brings', () => {
    const imports = [...modules.script.text.matchAll(/^(?:import|export)\b[^;'"]*?["']([^"'\n]+)["'];?$/gm)].map(
      (match) => match[1] as string,
    )
    const texts = new Set(modules.texts.map(({ name }) => `./${name}`))
    const foreign = imports.filter((name) => !texts.has(name))
    expect([...new Set(foreign)].sort()).toEqual([...ALLOWED.keys()].sort())
    // Nothing asks for a module in another way either.
    expect(modules.script.text).not.toMatch(/(?:\brequire|__require|\bimport)\(\s*["'](?:node:|cloudflare:)/)
  })

  it('holds no source that is for Node only', () => {
    const { sources } = modules
    expect(sources.some((source) => source.endsWith('/src/worker.ts'))).toBe(true)
    expect(sources.filter((source) => source.endsWith('.node.ts') || source.endsWith('/src/node.ts'))).toEqual([])
    for (const name of KEPT_OUT) {
      expect(sources.filter((source) => source.includes(`/node_modules/${name}/`))).toEqual([])
    }
  })

  it('carries the configuration, the schema and the page of the console as text', () => {
    expect(modules.texts.map(({ name }) => name.replace(/^[0-9a-f]{40}-/, '')).sort()).toEqual([
      'gateway.yaml',
      'schema.sql',
      'shell.html',
    ])
  })
})
