import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { Defaulted, Int4, Json, Timestamp } from '../../../../src/stores/sql/schema/column-types.ts'
import { type FullGateway, startFullGateway } from '../../../support/full-gateway.node.ts'

// What the contributing guide says of a kind of record, followed to the letter: a file, a line in its registry, a table.
declare module '../../../../src/stores/sql/schema/schema.ts' {
  interface Schema {
    gateway_test_tool: {
      tool_id: string
      tool_name: string | null
      kind: string
      settings: Json<Record<string, unknown>>
      sealed: string
      version: Defaulted<Int4>
      created_at: Defaulted<Timestamp>
      updated_at: Defaulted<Timestamp>
    }
  }
}
const TABLE = `
  CREATE TABLE IF NOT EXISTS gateway_test_tool (
    tool_id text COLLATE "C" PRIMARY KEY,
    tool_name text,
    kind text NOT NULL,
    settings json NOT NULL,
    sealed text NOT NULL,
    version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  );`

vi.mock(import('../../../../src/api/ui/records/index.ts'), async (original) => {
  const { records } = await original()
  const { keyedRoutes } = await import('../../../../src/api/ui/records/keyed-routes.ts')
  const { idField, label } = await import('../../../../src/api/ui/records/record-fields.ts')
  const tools = keyedRoutes({
    path: '/ui/api/test-tools',
    noun: 'tool',
    tag: 'Configuration',
    table: 'gateway_test_tool',
    id: 'tool_id',
    prefix: 'tool',
    permissions: { read: 'config.read', create: 'config.update', update: 'config.update', remove: 'config.update' },
    named: () => idField('tool'),
    fields: () => ({
      tool_name: label('What people call it.'),
      kind: z.string().max(20).default('http'),
      settings: z.strictObject({
        url: z.url(),
        token: z.string().optional(),
        headers: z.record(z.string(), z.string()).optional(),
      }),
    }),
    searched: ['tool_id', 'kind'],
    filters: ['kind'],
    secrets: {
      column: 'settings',
      fields: ['token'],
      maps: ['headers'],
      addressOf: ({ url }) => (typeof url === 'string' ? (URL.parse(url)?.origin ?? '') : ''),
    },
  })
  return { records: [...records, tools] }
})

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: what an assertion reads.
  readonly body: any
}

describe('a kind of record that was added', () => {
  let gateway: FullGateway
  beforeAll(async () => {
    const schema = readFileSync(new URL('../../../../schema.sql', import.meta.url), 'utf8')
    gateway = await startFullGateway('model_list: []', { schemaText: schema + TABLE })
  })
  afterAll(() => gateway?.close())

  async function ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await gateway.fetch(`/ui/api/test-tools${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, body: await response.json() }
  }
  const settings = { url: 'https://tools.example/mcp', token: 'very-secret', headers: { 'x-api-key': 'as-secret' } }
  const masked = { ...settings, token: '[secret]', headers: { 'x-api-key': '[secret]' } }

  it('is made with an id of its own, read, changed and removed', async () => {
    const made = await ask('POST', '', { settings })
    expect(made).toMatchObject({ status: 201, body: { kind: 'http', tool_name: null, settings: masked, version: 1 } })
    const { tool_id: id } = made.body
    expect(id).toMatch(/^tool-/)
    expect((await ask('GET', `/${id}`)).body).toEqual(made.body)
    const patched = await ask('PATCH', `/${id}`, { tool_name: 'mine', settings: { headers: { 'x-api-key': null } } })
    expect(patched.body).toMatchObject({ tool_name: 'mine', settings: { token: '[secret]', headers: {} }, version: 2 })
    expect((await ask('PATCH', `/${id}`, { kind: 'sse', version: 1 })).status).toBe(409)
    const put = await ask('PUT', `/${id}`, { settings: { url: settings.url, token: '[secret]' } })
    expect(put.body).toMatchObject({ tool_name: null, settings: { url: settings.url, token: '[secret]' }, version: 3 })
    expect(await ask('DELETE', `/${id}`)).toEqual({ status: 200, body: put.body })
    expect((await ask('GET', `/${id}`)).status).toBe(404)
  })

  it('takes an id that is chosen, once', async () => {
    expect(await ask('POST', '', { tool_id: 'own', settings })).toMatchObject({ status: 201, body: { tool_id: 'own' } })
    expect(await ask('POST', '', { tool_id: 'own', settings })).toMatchObject({ status: 409 })
  })

  it('refuses what is no field, and a mask that stands for the secret of another address', async () => {
    const mistakes = [
      [{ settings, kin: 'http' }, 'kin'],
      [{ settings: { ...settings, url: 'https://elsewhere.example' } }, undefined],
      [{ settings: masked }, undefined],
      [{ settings: { ...masked, url: 'https://elsewhere.example' } }, 'settings.token'],
      [{ settings: { url: settings.url, token: 'os.environ/GATEWAY_MASTER_KEY' } }, 'settings.token'],
      [{}, 'settings'],
    ] as const
    for (const [body, param] of mistakes) {
      const { status, body: answer } = await ask('PUT', '/own', body)
      expect([status, answer.error?.param]).toEqual(param === undefined ? [200, undefined] : [400, param])
      // What was refused has changed nothing; what was not is put back.
      if (status === 200) expect((await ask('PUT', '/own', { settings })).status).toBe(200)
    }
  })

  it('is listed by pages, filters and a search', async () => {
    for (const n of [1, 2, 3])
      await ask('POST', '', { tool_id: `listed-${n}`, kind: n === 2 ? 'sse' : 'http', settings })
    const ids = async (query: string) =>
      (await ask('GET', query)).body.data.map(({ tool_id }: { tool_id: string }) => tool_id)
    expect(await ids('?search=listed&limit=2')).toEqual(['listed-1', 'listed-2'])
    expect(await ids('?search=LISTED&cursor=listed-2')).toEqual(['listed-3'])
    expect(await ids('?kind=sse')).toEqual(['listed-2'])
  })

  it('shows its secrets nowhere, and is in the OpenAPI document', async () => {
    expect(JSON.stringify(await ask('GET', ''))).not.toMatch(/very-secret|as-secret|sealed/)
    const { paths } = (await (await gateway.fetch('/openapi.json')).json()) as { paths: Record<string, object> }
    expect(Object.keys(paths['/ui/api/test-tools'] ?? {})).toEqual(['get', 'post'])
    expect(Object.keys(paths['/ui/api/test-tools/{tool_id}'] ?? {})).toEqual(['get', 'patch', 'put', 'delete'])
  })
})
