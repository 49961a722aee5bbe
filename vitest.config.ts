import { availableParallelism } from 'node:os'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

// Faults are played in real time, and a shared machine may stand still for longer than one of them waits: what fails
// there is asked once more. What is wrong fails twice.
const slow = { testTimeout: 20_000, hookTimeout: 60_000, retry: process.env.CI ? 1 : 0 }

/** Folders whose tests mostly compute, and leave nothing behind that another file could meet. */
const PURE = ['config', 'identity', 'lib', 'limits', 'modes', 'providers', 'routing', 'transport'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

export default defineConfig({
  test: {
    globalSetup: ['./test/support/global-setup.ts'],
    // Most of a test here is waiting: for a server, a clock, a fault. One file a core would leave cores idle.
    maxWorkers: 2 * Math.max(2, availableParallelism()),
    projects: [
      {
        extends: true,
        test: {
          ...slow,
          name: 'node',
          // Half of what the embedded database costs is making code faster that runs for a second.
          execArgv: ['--liftoff-only'],
          setupFiles: ['./test/support/seed.ts'],
          include: ['test/**/*.test.ts'],
          exclude: ['test/clients/**', ...PURE],
        },
      },
      {
        extends: true,
        test: {
          ...slow,
          name: 'pure',
          // Loading the sources takes longer than most of these tests.
          pool: 'threads',
          isolate: false,
          setupFiles: ['./test/support/seed.ts'],
          include: PURE,
        },
      },
      {
        extends: true,
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' } })],
        test: {
          ...slow,
          name: 'workerd',
          include: ['test/runtime/**/*.test.ts', 'test/contracts/**/*.test.ts'],
          exclude: ['**/*.node.test.ts'],
        },
      },
    ],
  },
})
