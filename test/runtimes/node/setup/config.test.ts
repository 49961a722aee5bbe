import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { commandLine } from '../../../../src/runtimes/node/process/command-line.node.ts'
import { nodeConfig } from '../../../../src/runtimes/node/setup/config.node.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const absent = join(folder, 'gateway.yaml')

it('is the sample where no file is named, also by an empty variable', () => {
  for (const env of [{}, { GATEWAY_CONFIG: '' }]) expect(nodeConfig(absent, folder, env).isSample).toBe(true)
  expect(() => nodeConfig(absent, folder, { GATEWAY_CONFIG: absent })).toThrow('There is no configuration file')
})

it('is checked under its usual name, also with an empty variable', async () => {
  expect(await commandLine(['check'], { GATEWAY_CONFIG: '' })).toBe(0)
})
