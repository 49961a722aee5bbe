import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { place } from '../runtimes/node/gateway-process.ts'
import { builtIn } from '../support/build-gateway.ts'
import { type FarEnd, startConformanceTools } from './mcp/conformance-tools.ts'
import { startRelay } from './mcp/relay.ts'

/** Scenarios of what the gateway does not offer, which `initialize` does not announce. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  'logging-set-level': 'logging',
  'tools-call-with-logging': 'logging',
  'completion-complete': 'completions',
  'tools-call-sampling': 'sampling: the gateway is without state, and asks clients nothing',
  'tools-call-elicitation': 'elicitation, for the same reason',
  'elicitation-sep1034-defaults': 'elicitation',
  'elicitation-sep1330-enums': 'elicitation',
  'resources-list': 'resources',
  'resources-read-text': 'resources',
  'resources-read-binary': 'resources',
  'resources-templates-read': 'resources',
  'resources-subscribe': 'resources',
  'resources-unsubscribe': 'resources',
  'prompts-list': 'prompts',
  'prompts-get-simple': 'prompts',
  'prompts-get-with-args': 'prompts',
  'prompts-get-embedded-resource': 'prompts',
  'prompts-get-with-image': 'prompts',
}

const PASSED = [
  'dns-rebinding-protection',
  'json-schema-2020-12',
  'ping',
  'server-initialize',
  'server-sse-multiple-streams',
  'server-sse-polling',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-error',
  'tools-call-image',
  'tools-call-mixed-content',
  'tools-call-simple-text',
  'tools-call-with-progress',
  'tools-list',
]

interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  readonly errorMessage?: string
}

/** The checks of each scenario, as the package writes them down. */
async function runScenarios(url: string): Promise<Map<string, Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'))
  const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')
  const run = [program, 'server', '--url', url, '--suite', 'all', '--output-dir', folder]
  // It ends with an error if any scenario failed, among which are those of what is not offered.
  await promisify(execFile)(process.execPath, run, { maxBuffer: 2 ** 26 }).catch(() => {})
  const found = new Map<string, Check[]>()
  for (const entry of await readdir(folder, { recursive: true })) {
    if (!entry.endsWith('checks.json')) continue
    const scenario = entry.replace(/\/checks\.json$/, '').replace(/^server-(.*)-\d{4}-\d{2}-.*$/, '$1')
    found.set(scenario, JSON.parse(await readFile(join(folder, entry), 'utf8')))
  }
  await rm(folder, { recursive: true })
  return found
}

describe('the conformance scenarios for servers, with a server of the official SDK behind the gateway', () => {
  let far: FarEnd
  let relay: FarEnd
  let clear: (() => Promise<void>) | undefined
  let checks: ReadonlyMap<string, readonly Check[]>

  beforeAll(async () => {
    far = await startConformanceTools()
    const { start, ...rest } = await place(builtIn(inject('builtFolder')))
    clear = rest.clear
    const yaml = `gateway_settings: { mcp_servers: [{ server_key: conformance, base_url: '${far.url}' }] }\n`
    const gateway = await start({ yaml })
    await gateway.greeted()
    relay = await startRelay(await gateway.base(), 'conformance')
    checks = await runScenarios(relay.url)
  }, 180_000)
  afterAll(async () => {
    await relay?.close()
    await clear?.()
    await far?.close()
  })

  const failures = (scenario: string) => checks.get(scenario)?.filter(({ status }) => status === 'FAILURE')

  it('are these', () => {
    expect([...checks.keys()].sort()).toEqual([...PASSED, ...Object.keys(NOT_OFFERED)].sort())
  })

  it.each(PASSED)('%s passes', (scenario) => {
    expect(failures(scenario)).toEqual([])
    const told = checks.get(scenario)?.map(({ status }) => status)
    // This one finds JSON where it wanted to see a stream resumed, which is the server's to choose.
    expect(told).toContain(scenario === 'server-sse-polling' ? 'INFO' : 'SUCCESS')
  })

  it.each(Object.entries(NOT_OFFERED))('%s is not offered: %s', (scenario) => {
    expect(failures(scenario)?.length).toBeGreaterThan(0)
  })
})
