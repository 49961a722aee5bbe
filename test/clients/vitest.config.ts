import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from there.
export default defineConfig({
  test: {
    globalSetup: ['./global-setup.ts'],
    include: ['*.test.ts'],
    // Loading a client takes longer than its tests, and no file changes what another sees.
    isolate: false,
    // In CI they run beside all other tests.
    testTimeout: 30_000,
    hookTimeout: 120_000,
    retry: process.env.CI ? { count: 2, delay: 2000 } : 0,
  },
})
