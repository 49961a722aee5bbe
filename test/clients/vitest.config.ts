import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from there.
export default defineConfig({
  test: {
    globalSetup: ['./global-setup.ts'],
    include: ['*.test.ts'],
    // Loading a client takes longer than its tests, and no file changes what another sees.
    isolate: false,
    testTimeout: 15_000,
    hookTimeout: 60_000,
  },
})
