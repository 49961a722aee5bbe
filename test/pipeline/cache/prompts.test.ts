import { describe, expect, inject, it } from 'vitest'
import { chatInit } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { withFullGateway } from '../../support/with-gateway.ts'

const postgresUrl = inject('postgresUrl')

describe.skipIf(!postgresUrl)('cached answers to calls with prompts', () => {
  const gateway = withFullGateway(
    async () => `
general_settings: { cache_enabled: true, database_url: '${await preparedDatabase(postgresUrl)}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`,
  )
  const write = async (path: string, body: object) =>
    expect((await gateway.fetch(`/ui/api/prompts${path}`, chatInit(body))).status).toBe(201)
  const ask = async (prompt_ref: string, name: string) => {
    const metadata = { prompt_ref, prompt_variables: { name } }
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], metadata }
    const { headers } = await gateway.fetch('/v1/chat/completions', chatInit(body))
    return [headers.get('x-gateway-cache'), headers.get('x-gateway-prompt')]
  }
  const greeting = (words: string) => [{ role: 'system', content: `${words} {{name}}.` }]

  it('belong to what was rendered: its version and its variables', async () => {
    await write('', { key: 'greet', messages: greeting('Greet') })
    expect(await ask('greet', 'Ann')).toEqual(['miss', 'greet@1'])
    expect(await ask('greet', 'Ann')).toEqual(['hit', 'greet@1'])
    expect(await ask('greet', 'Bob')).toEqual(['miss', 'greet@1'])
    await write('/greet/versions', { messages: greeting('Welcome') })
    expect(await ask('greet', 'Ann')).toEqual(['miss', 'greet@2'])
    expect(await ask('greet@1', 'Ann')).toEqual(['hit', 'greet@1'])
  })
})
