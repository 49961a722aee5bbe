import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')
const CLIENT = new URL('../support/conformance-client.node.ts', import.meta.url).pathname

/** Runs one scenario of the suite, which starts a server and has our client ask it. */
function outcome(scenario: string): Promise<string> {
  const args = [SUITE, 'client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', scenario]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } }, (_, stdout, stderr) => {
      resolve(/Passed: (\d+\/\d+, \d+ failed, \d+ warnings)/.exec(stdout + stderr)?.[1] ?? stdout + stderr)
    })
  })
}

// The other scenarios are those of OAuth and of questions to a person, which a gateway has nobody to answer for.
describe("the protocol's own suite, of the client of servers of tools", () => {
  it.each([
    ['initialize', '1/1'],
    ['tools_call', '1/1'],
    ['sse-retry', '3/3'],
  ])('%s', async (scenario, passed) => {
    expect(await outcome(scenario)).toBe(`${passed}, 0 failed, 0 warnings`)
  })
})
