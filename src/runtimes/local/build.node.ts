import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

// `npm install` makes the build (script `prepare`): the Node server and each of its threads as one file, and what they read.
// Another folder than dist/ may be named.
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
  cpSync(`${root}src/console/public`, `${out}/public`, { recursive: true })
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
    // Beside the rest: what reads a file by its place must find it.
    chunkNames: 'part-[hash]',
    bundle: true,
    // What is imported when it is needed, an adapter that the configuration chooses, is a file of its own.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: `node${engines.node.replace(/[^\d.]/g, '')}`,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    // It reads files that stand beside it.
    external: ['@electric-sql/pglite', 'pg-native'],
    // Some dependencies still ask for Node's own modules by `require`.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
    logLevel: 'warning',
  }
}
