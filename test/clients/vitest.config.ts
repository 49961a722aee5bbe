import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from there.
export default defineConfig({
  test: { globalSetup: ['./global-setup.ts'], include: ['*.test.ts'], testTimeout: 15_000, hookTimeout: 60_000 },
})
