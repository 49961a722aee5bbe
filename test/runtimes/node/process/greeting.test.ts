import { expect, it } from 'vitest'
import { loadConfig } from '../../../../src/routing/configuration.ts'
import { greeting } from '../../../../src/runtimes/node/process/greeting.node.ts'

it.each([
  ['127.0.0.1', 'localhost'],
  ['::', 'localhost'],
  ['10.0.0.5', '10.0.0.5'],
  ['::1', '[::1]'],
])('shows addresses that a browser can open, for the host %s', (host, shown) => {
  const started = { newMasterKey: undefined, setupToken: 't', isSample: false, dataFolder: '.gateway' }
  const lines = greeting({ ...started, host, port: 8787, config: loadConfig('', {}) }).split('\n')
  expect(lines[0]).toMatch(/^gateway /)
  const addresses = lines.flatMap((line) => /http:\S+/.exec(line)?.[0] ?? [])
  expect(addresses).toHaveLength(5)
  for (const address of addresses) expect(new URL(address).host).toBe(`${shown}:8787`)
})
