import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkerModules } from './worker-modules.ts'

export interface DevWorker {
  readonly url: string
  stop(): Promise<void>
}

/** What we use of wrangler. Its own types bring the globals of Workers, which contradict those of Node. */
interface Wrangler {
  unstable_startWorker(options: {
    config: string
    bindings: Record<string, { type: 'plain_text'; value: string }>
    dev: { server: { hostname: string; port: number }; inspector: false; persist: false; logLevel: 'none' | 'log' }
  }): Promise<{ url: Promise<URL>; ready: Promise<void>; dispose(): Promise<void> }>
}

/** The worker as `wrangler dev` serves it, with `wrangler.toml`, its queues and its bucket, offline; with other modules
 *  than those of the sources, if they are given, and then also with another `wrangler.toml`. */
export async function startDevWorker(
  variables: Record<string, string>,
  modules?: WorkerModules,
  edited: (toml: string) => string = (toml) => toml,
): Promise<DevWorker> {
  process.env.WRANGLER_SEND_METRICS = 'false'
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'
  const { unstable_startWorker } = createRequire(import.meta.url)('wrangler') as Wrangler
  const bindings = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, { type: 'plain_text' as const, value }]),
  )
  const folder = modules && (await folderOf(modules, edited))
  const worker = await unstable_startWorker({
    config: folder ? join(folder, 'wrangler.toml') : 'wrangler.toml',
    bindings,
    dev: { server: { hostname: '127.0.0.1', port: 0 }, inspector: false, persist: false, logLevel: 'none' },
  })
  await worker.ready
  return {
    url: (await worker.url).href.replace(/\/$/, ''),
    async stop() {
      await worker.dispose()
      if (folder) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A folder with the built modules, and with `wrangler.toml` as it is but for where it finds them. */
async function folderOf({ script, texts }: WorkerModules, edited: (toml: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-dev-worker-'))
  const toml = edited(await readFile('wrangler.toml', 'utf8'))
    .replace('main = "src/worker.ts"', `main = "${script.name}"\nno_bundle = true\nfind_additional_modules = true`)
    .replace('minify = true', '')
    .replace(/\[build\]\n(?:.+\n)+/, '')
    .replace('directory = "', `directory = "${process.cwd()}/`)
  const files = [script, ...texts, { name: 'wrangler.toml', text: toml }]
  await Promise.all(files.map(({ name, text }) => writeFile(join(folder, name), text)))
  return folder
}
