import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const KIB = 1024

export interface WorkerBundle {
  /** The uploaded script. */
  readonly script: string
  readonly bytes: number
  readonly gzipBytes: number
}

/** Bundles the worker as a deployment does, without deploying it and without a network. The target names an environment of
 *  wrangler.toml. */
export function buildWorker(
  target: readonly string[] = ['--env='],
  env: NodeJS.ProcessEnv = process.env,
): WorkerBundle {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bundle-'))
  try {
    execFileSync('wrangler', ['deploy', '--dry-run', '--minify', '--outdir', folder, ...target], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    })
    const modules = readdirSync(folder).filter((name) => !name.endsWith('.map') && !name.endsWith('.md'))
    const contents = modules.map((name) => readFileSync(join(folder, name)))
    return {
      script: contents.map(String).join('\n'),
      bytes: contents.reduce((sum, content) => sum + content.byteLength, 0),
      gzipBytes: contents.reduce((sum, content) => sum + gzipSync(content).byteLength, 0),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { bytes, gzipBytes } = buildWorker()
  process.stdout.write(`${(bytes / KIB).toFixed(1)} KiB, ${(gzipBytes / KIB).toFixed(1)} KiB gzipped\n`)
}
