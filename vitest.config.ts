import { availableParallelism } from 'node:os'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

// Faults are played in real time, and a shared machine may stand still for longer than one of them waits: what fails
// there is asked once more. What is wrong fails twice.
const slow = { testTimeout: 20_000, hookTimeout: 60_000, retry: process.env.CI ? 1 : 0 }

export default defineConfig({
  test: {
    globalSetup: ['./test/support/global-setup.ts'],
    // Most of a test here is waiting: for a server, a clock, a fault. One file at a time would leave cores idle.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        extends: true,
        test: {
          ...slow,
          name: 'node',
          setupFiles: ['./test/support/seed.ts'],
          include: ['test/**/*.test.ts'],
          exclude: ['test/clients/**'],
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
