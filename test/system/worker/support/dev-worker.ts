import { createRequire } from 'node:module'

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

/** The worker as `wrangler dev` serves it, with `wrangler.toml`, its queue and its bucket, offline. */
export async function startDevWorker(variables: Record<string, string>): Promise<DevWorker> {
  process.env.WRANGLER_SEND_METRICS = 'false'
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'
  const { unstable_startWorker } = createRequire(import.meta.url)('wrangler') as Wrangler
  const bindings = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, { type: 'plain_text' as const, value }]),
  )
  const worker = await unstable_startWorker({
    config: 'wrangler.toml',
    bindings,
    dev: { server: { hostname: '127.0.0.1', port: 0 }, inspector: false, persist: false, logLevel: 'none' },
  })
  await worker.ready
  return { url: (await worker.url).href.replace(/\/$/, ''), stop: () => worker.dispose() }
}
