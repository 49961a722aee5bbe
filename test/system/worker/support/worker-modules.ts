import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** By the name under which others import it. */
export interface Module {
  readonly name: string
  readonly text: string
}

const run = promisify(execFile)

/** The worker as it is uploaded: its script and the text modules beside it. */
export interface WorkerModules {
  /** What the runtime enters. */
  readonly script: Module
  /** Scripts that it imports. */
  readonly beside?: readonly Module[]
  readonly texts: readonly Module[]
  /** The source files that went into the script. */
  readonly sources: readonly string[]
}

/** The real bundle, but for its names, which tests look for; without a network. */
export async function buildWorkerModules(): Promise<WorkerModules> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-worker-'))
  try {
    const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
    await run('node_modules/.bin/wrangler', ['deploy', '--dry-run', '--no-minify', '--outdir', folder], { env })
    const read = async (name: string) => ({ name, text: await readFile(join(folder, name), 'utf8') })
    const texts = (await readdir(folder)).filter((name) => /\.(yaml|sql|lua|html)$/.test(name))
    const { sources } = JSON.parse((await read('worker.js.map')).text) as { sources: string[] }
    return { script: await read('worker.js'), texts: await Promise.all(texts.map(read)), sources }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The same script with another configuration file. */
export function withConfig(modules: WorkerModules, yaml: string): WorkerModules {
  const texts = modules.texts.map((one) => (one.name.endsWith('gateway.yaml') ? { ...one, text: yaml } : one))
  return { ...modules, texts }
}
