import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

// `npm install` runs this before the build of the server (script `prepare`); wrangler runs it before each bundle.
//
// build/console/shell.html   the page that a route answers for every address of the console
// build/console/files        what both runtimes answer as static files
// build/console/compressed   the same for the Node server, which compresses nothing itself
const root = fileURLToPath(new URL('../../../', import.meta.url))
const source = `${root}src/console`
const out = `${root}build/console`

/** Those under /assets never change under their name, for they are named after their content. */
const HEADERS = `/*
  X-Content-Type-Options: nosniff
/assets/*
  Cache-Control: public, max-age=31536000, immutable
`

const COMPRESSED = new Set(['.css', '.js', '.svg'])

// Whoever calls this, a test for one, may be told otherwise: what is served is always the same.
process.env.NODE_ENV = 'production'

const vite = await import('vite').catch(() => undefined)
if (!vite) say('The console is not built, for vite is not installed: development dependencies were left out.')
else if (isUpToDate()) say(`${out} is up to date`)
else {
  const began = performance.now()
  // Built in another folder and renamed, so that no reader finds an incomplete build.
  const fresh = `${out}-${process.pid}`
  await vite.build({
    configFile: false,
    root: source,
    publicDir: `${source}/public`,
    logLevel: 'warn',
    resolve: { dedupe: ['preact'] },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `${fresh}/files`,
      emptyOutDir: true,
      // Browsers since the spring of 2024, which have `light-dark()`, popovers and nested styles.
      target: ['chrome123', 'edge123', 'firefox125', 'safari17.5'],
      // Without it a style of a page would wait for its script.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  renameSync(`${fresh}/files/index.html`, `${fresh}/shell.html`)
  writeFileSync(`${fresh}/files/_headers`, HEADERS)
  for (const name of filesOf(`${fresh}/files`)) {
    if (COMPRESSED.has(extname(name))) compress(`${fresh}/files/${name}`, `${fresh}/compressed/${name}`)
  }
  rmSync(out, { recursive: true, force: true })
  renameSync(fresh, out)
  say(`${out} is built (${Math.round(performance.now() - began)} ms)`)
}

function isUpToDate(): boolean {
  const built = statSync(`${out}/shell.html`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const inputs = [...filesOf(source).map((name) => `${source}/${name}`), fileURLToPath(import.meta.url)]
  return [...inputs, `${root}package-lock.json`].every((path) => statSync(path).mtimeMs < built)
}

function compress(from: string, to: string): void {
  const content = readFileSync(from)
  mkdirSync(join(to, '..'), { recursive: true })
  writeFileSync(`${to}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
  writeFileSync(`${to}.gz`, gzipSync(content, { level: 9 }))
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
