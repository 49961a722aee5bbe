import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

// Faults are played in real time, and a shared machine may stand still for longer than one of them waits: what fails
// there is asked again a little later. What is wrong fails each time.
const slow = {
  testTimeout: 45_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 15_000 } },
  retry: process.env.CI ? { count: 2, delay: 2000 } : 0,
}

/** Folders whose tests mostly compute, and leave nothing behind that another file could meet. */
const PURE = ['config', 'identity', 'lib', 'limits', 'modes', 'providers', 'routing', 'transport'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

/** Files that replace a module by another, which stays behind in their process, and files that weigh it: each has one of its
 *  own. */
const APART = [
  ...readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.test.ts') &&
        !file.startsWith('clients/') &&
        readFileSync(`test/${file}`, 'utf8').includes('vi.mock('),
    )
    .map((file) => `test/${file}`),
  'test/stores/kv/in-process/memory.node.test.ts',
  'test/runtimes/node/http/uploads.test.ts',
  'test/runtimes/node/file-memory.test.ts',
]

/** Files that measure time, when all others have ended. */
const ALONE = ['test/api/auth/login-times.test.ts', 'test/system/worker/start.test.ts']

/** Files that open the console in a browser. */
const CONSOLE = ['test/console/**/*.test.ts', 'test/support/console/**/*.test.ts']
/** Those of them that are opened among all other tests; `npm run test:console` opens every page. */
const CONSOLE_AMONG_OTHERS = ['audit', 'budgets', 'ladder', 'mcp', 'overview', 'requests']
const opened =
  process.env.CONSOLE_PAGES === 'all' ? CONSOLE : CONSOLE_AMONG_OTHERS.map((page) => `test/console/${page}.test.ts`)

/** Packages of many files that the gateway loads into workerd. */
const BUNDLED = ['hono', 'hono/cors', 'hono/router', 'hono/router/trie-router', 'jose', 'kysely', 'yaml', 'zod']

/** What runs on Node itself. Half of what the embedded database costs is making code faster that runs for a second. */
const node = { ...slow, setupFiles: ['./test/support/seed.ts'], execArgv: ['--liftoff-only'] }

export default defineConfig({
  test: {
    globalSetup: ['./test/support/global-setup.ts'],
    // Most of a test here is waiting: for a server, a clock, a fault. One file a core would leave cores idle, and two still do.
    maxWorkers: 3 * Math.max(2, availableParallelism()),
    projects: [
      {
        extends: true,
        test: {
          ...node,
          name: 'node',
          // To load the sources and what they need is most of what a file costs: processes go from one file to the next.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/clients/**', ...PURE, ...APART, ...ALONE, ...CONSOLE],
        },
      },
      { extends: true, test: { ...node, name: 'apart', include: APART } },
      {
        extends: true,
        test: { ...node, name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        // A browser and a gateway for each process, which all files of it share; not beside everything else.
        test: {
          ...node,
          name: 'console',
          include: [...opened, 'test/support/console/**/*.test.ts'],
          testTimeout: 60_000,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...slow,
          name: 'pure',
          pool: 'threads',
          isolate: false,
          setupFiles: ['./test/support/seed.ts'],
          include: PURE,
          exclude: [...APART, ...ALONE],
        },
      },
      {
        extends: true,
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' } })],
        test: {
          ...slow,
          name: 'workerd',
          // To load the gateway into workerd takes longer than the tests of a file, half of it the hundreds of files of these
          // packages: each is made one.
          isolate: false,
          deps: { optimizer: { ssr: { enabled: true, include: BUNDLED } } },
          include: ['test/runtime/**/*.test.ts', 'test/contracts/**/*.test.ts'],
          exclude: ['**/*.node.test.ts'],
        },
      },
    ],
  },
})
