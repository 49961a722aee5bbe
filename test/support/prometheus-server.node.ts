import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './postgres.ts'

export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/** A real Prometheus that scrapes one address five times a second. */
export interface PrometheusServer {
  /** What PromQL answers now. */
  query(promql: string): Promise<QueryResult[]>
  /** Asks until an answer is as awaited. */
  until(promql: string, awaited: (results: QueryResult[]) => boolean): Promise<QueryResult[]>
  /** How the last scrape went. */
  target(): Promise<{ readonly health: string; readonly lastError: string }>
  close(): Promise<void>
}

/** Starts the Prometheus of this machine. */
export async function startPrometheus(url: string, token: string): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const config = join(folder, 'prometheus.yml')
  const scrape = {
    job_name: 'gateway',
    scrape_interval: '200ms',
    scrape_timeout: '200ms',
    authorization: { credentials: token },
    static_configs: [{ targets: [new URL(url).host] }],
  }
  writeFileSync(config, JSON.stringify({ scrape_configs: [scrape] }))
  const port = await freePort()
  const own = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`, '--log.level=error']
  const server = spawn('prometheus', [...own, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  const failed = new Promise<never>((_resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`prometheus ended with ${code}`)))
  })
  failed.catch(() => {})
  const get = async (path: string) => {
    const answered = await Promise.race([fetch(`http://127.0.0.1:${port}${path}`), failed])
    if (!answered.ok) throw new Error(`prometheus answered ${answered.status} to ${path}`)
    return answered
  }
  const query = async (promql: string): Promise<QueryResult[]> => {
    const { data } = await (await get(`/api/v1/query?query=${encodeURIComponent(promql)}`)).json()
    return data.result.map((one: { metric: Record<string, string>; value: [number, string] }) => ({
      metric: one.metric,
      value: Number(one.value[1]),
    }))
  }
  async function within<Value>(ask: () => Promise<Value>, isAwaited: (value: Value) => boolean): Promise<Value> {
    const deadline = Date.now() + 15_000
    for (;;) {
      const value = await ask().catch((error: unknown) => {
        if (server.exitCode !== null || Date.now() > deadline) throw error
        return undefined
      })
      if (value !== undefined && isAwaited(value)) return value
      if (Date.now() > deadline) throw new Error(`prometheus did not come to it: ${JSON.stringify(value)}`)
      await wait(50)
    }
  }
  await within(
    () => get('/-/ready'),
    () => true,
  )
  return {
    query,
    until: (promql, awaited) => within(() => query(promql), awaited),
    async target() {
      const { data } = await (await get('/api/v1/targets')).json()
      return data.activeTargets[0]
    },
    async close() {
      await ended(server)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return
  const gone = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGKILL')
  await gone
}
