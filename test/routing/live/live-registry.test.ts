import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/config/config-error.ts'
import { jsonLog } from '../../../src/lib/log.ts'
import { sealUnder } from '../../../src/lib/sealing/seal.ts'
import { providers } from '../../../src/providers/index.ts'
import { loadConfig } from '../../../src/routing/configuration.ts'
import { liveRegistry } from '../../../src/routing/live/live-registry.ts'
import { credentialRecords } from '../../../src/stores/sql/credential-records.ts'
import { drainedDeployments } from '../../../src/stores/sql/drained-deployments.ts'
import { promptRecords } from '../../../src/stores/sql/prompts/prompt-records.ts'
import { modelRecords } from '../../../src/stores/sql/records/model-records.ts'
import { routeGroupPolicyRecords } from '../../../src/stores/sql/records/route-group-policy-records.ts'
import { routeGroupRecords } from '../../../src/stores/sql/records/route-group-records.ts'
import { applySchema } from '../../../src/stores/sql/schema/apply-schema.ts'
import type { Sql } from '../../../src/stores/sql/sql.ts'
import { mcpServerRecords } from '../../../src/stores/sql/tools/mcp-server-records.ts'
import { preparedSql } from '../../support/prepared-database.ts'
import { registryOf } from '../../support/registry.ts'

const schemaText = readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')

describe('the live registry', () => {
  it('names each entry of the file that its provider cannot be called by', () => {
    const config = loadConfig(
      `model_list:
  - { model_name: a, gateway_params: { model: echo/a } }
  - { model_name: b, gateway_params: { model: vertex/gemini-2.5-pro } }
  - { model_name: c, gateway_params: { model: bedrock/x, api_key: k } }`,
      {},
    )
    expect(() => registryOf(config, providers)).toThrow(
      new ConfigError([
        {
          path: 'model_list[1]',
          message: "provider 'vertex' needs gateway_params.api_key: a service account's JSON, or an API key",
        },
        { path: 'model_list[2]', message: "provider 'bedrock' needs gateway_params.region" },
      ]),
    )
  })

  it('warns once of names in chains and aliases that lead nowhere, when it knows what the database holds', async () => {
    const sql = await preparedSql()
    await applySchema(sql, schemaText)
    const groups = routeGroupRecords(sql)
    await groups.create('stored', { enabled: true, members: [{ model_name: 'a', enabled: true }] })
    const lines: Record<string, unknown>[] = []
    const changes: string[][] = []
    const registry = liveRegistry({
      config: loadConfig(
        `
general_settings: { database_url: 'postgres://db.example/gateway' }
router_settings: { model_group_alias: { known: stored, lost: nowhere } }
gateway_settings: { fallbacks: [{ a: [stored, known, missing] }, { stored: [a] }] }
model_list: [{ model_name: a, gateway_params: { model: echo/a } }]`,
        {},
      ),
      providers,
      records: modelRecords(sql),
      credentials: credentialRecords(sql),
      drained: drainedDeployments(sql),
      groups,
      policies: routeGroupPolicyRecords(sql),
      toolServers: mcpServerRecords(sql),
      prompts: promptRecords(sql),
      seal: sealUnder(undefined),
      log: jsonLog('debug', (line) => lines.push(JSON.parse(line))),
      now: Date.now,
      changed: (changed) => changes.push([...changed.names]),
    })
    expect(lines).toEqual([])
    await registry.refresh()
    await registry.refresh()
    expect(lines.map(({ level, event, field, name }) => [level, event, field, name])).toEqual([
      ['warn', 'config.unknown_group', 'router_settings.model_group_alias.lost', 'nowhere'],
      ['warn', 'config.unknown_group', 'gateway_settings.fallbacks[0].a[2]', 'missing'],
    ])
    expect(registry.current().names).toEqual(['a', 'known', 'stored'])
    // Told of what is new, not of each look.
    expect(changes).toEqual([['a', 'known', 'stored']])
    await sql.close()
  })

  it('is looked at once for a start and all requests that come before the database has answered', async () => {
    let answer = (_revision: string) => {}
    let asked = 0
    let time = 0
    const records = {
      revision: () => {
        asked++
        return new Promise<string>((resolve) => (answer = resolve))
      },
    }
    const never = () => Promise.reject(new Error('nobody changed anything'))
    const registry = liveRegistry({
      config: loadConfig('model_list: [{ model_name: a, gateway_params: { model: echo/a } }]', {}),
      providers,
      records: { ...modelRecords({} as Sql), ...records },
      credentials: { all: never },
      drained: { all: never },
      groups: { ...routeGroupRecords({} as Sql), all: never },
      policies: { ...routeGroupPolicyRecords({} as Sql), published: never },
      toolServers: { ...mcpServerRecords({} as Sql), all: never },
      prompts: { ...promptRecords({} as Sql), active: never },
      seal: sealUnder(undefined),
      log: jsonLog('debug', () => {}),
      now: () => time,
    })
    expect(registry.current().unread).toBe(true)
    registry.begin()
    const waiting = [registry.attend(() => {}), registry.attend(() => {})]
    expect(waiting.every((one) => one instanceof Promise)).toBe(true)
    answer('0')
    await Promise.all(waiting)
    expect(asked).toBe(1)
    expect(registry.current().unread).toBe(false)
    expect(registry.attend(() => {})).toBeUndefined()

    // And once for all that come at once after a silence.
    time += 60_000
    const later = [registry.attend(() => {}), registry.attend(() => {}), registry.attend(() => {})]
    answer('0')
    await Promise.all(later)
    expect(asked).toBe(2)

    // And where the clock was set back: nobody waits for it to be there again.
    time -= 3_600_000
    const back = registry.attend(() => {})
    expect(back).toBeInstanceOf(Promise)
    answer('0')
    await back
    expect(asked).toBe(3)
    expect(registry.attend(() => {})).toBeUndefined()
  })
})
