import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'
import { databaseArchive } from './database-archive.node.ts'

// `npm install` runs the build (script `prepare`): bundles of the Node server and its threads, and the files that they
// read, among them a ready database. An argument names another folder than dist/.
const root = fileURLToPath(new URL('../../../', import.meta.url))
const out = process.argv[2] ?? `${root}dist`

const esbuild = await import('esbuild').catch(() => undefined)
if (esbuild) {
  const began = performance.now()
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  await esbuild.build(
    programs({
      'model-gateway': 'src/node.ts',
      'pglite-thread': 'src/stores/sql/adapters/pglite-thread.node.ts',
      'hashing-thread': 'src/runtimes/node/passwords/hashing-thread.node.ts',
    }),
  )
  for (const file of ['schema.sql', 'gateway.yaml']) cpSync(`${root}${file}`, `${out}/${file}`)
  cpSync(`${root}build/console`, `${out}/console`, { recursive: true })
  const archive = await databaseArchive(root)
  if (archive) copyFileSync(archive, `${out}/database.tar.gz`)
  process.stdout.write(`${out} is built (${Math.round(performance.now() - began)} ms)\n`)
} else {
  process.stdout.write(`${out} is not built, for esbuild is not installed: development dependencies were left out.\n`)
}

function programs(entries: Readonly<Record<string, string>>): BuildOptions {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { engines: { node: string } }
  return {
    entryPoints: Object.entries(entries).map(([name, entry]) => ({ in: `${root}${entry}`, out: name })),
    outdir: out,
    outExtension: { '.js': '.mjs' },
    // Chunks are in the same folder as the entries: they find files by relative paths.
    chunkNames: 'part-[hash]',
    bundle: true,
    // Adapters are imported on demand, so that each is a file of its own.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: `node${engines.node.replace(/[^\d.]/g, '')}`,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    // PGlite reads files of its own package.
    external: ['@electric-sql/pglite', 'pg-native'],
    // Some dependencies load Node's own modules by `require`.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
    logLevel: 'warning',
  }
}
