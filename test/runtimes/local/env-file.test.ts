import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { envFile, referencedVariables } from '../../../src/runtimes/local/env-file.node.ts'

describe('variables for the worker', () => {
  it('are those of the shell that the configuration refers to', () => {
    const config = `
general_settings: { master_key: os.environ/GATEWAY_MASTER_KEY }
model_list:
  - gateway_params: { api_key: os.environ/OPENAI_API_KEY, api_base: os.environ/UNSET, region: "os.environ/EMPTY" }
  # - gateway_params: { api_key: os.environ/LATER_KEY }
`
    const env = { OPENAI_API_KEY: 'sk-1', EMPTY: '', LATER_KEY: 'sk-2', HOME: '/root', GATEWAY_MASTER_KEY: 'm' }
    expect(referencedVariables(config, env)).toEqual({
      OPENAI_API_KEY: 'sk-1',
      LATER_KEY: 'sk-2',
      GATEWAY_MASTER_KEY: 'm',
    })
  })

  it('stand in a file that is nobody else’s, and is gone with its folder', () => {
    const file = envFile({ PLAIN: 'sk-a b#c"d$e\\n', QUOTED: "it's" })
    expect(statSync(file.path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file.path)).mode & 0o077).toBe(0)
    expect(readFileSync(file.path, 'utf8')).toBe(`PLAIN='sk-a b#c"d$e\\n'\nQUOTED=\`it's\`\n`)
    file.remove()
    expect(existsSync(dirname(file.path))).toBe(false)
  })

  it('that cannot be written are named, not shown', () => {
    expect(() => envFile({ ODD: "secret'`" })).toThrow(/^ODD holds/)
  })
})
