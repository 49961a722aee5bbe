import { describe, expect, it } from 'vitest'
import { chatInit, MASTER_KEY } from '../support/gateway.ts'
import { withGateway } from '../support/with-gateway.ts'

const gateway = withGateway(`model_list:
  - model_name: echo
    gateway_params: { model: echo/echo }
`)

const messages = [{ role: 'user', content: 'Hi' }]
const chat = { model: 'echo', messages }
const turn = { model: 'echo', max_tokens: 9, messages }
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }

/** The addresses that clients of several vendors are given, on each runtime. */
describe('a call by its address', () => {
  it.each([
    ['/v1/chat/completions/', chat, 'choices'],
    ['/chat/completions', chat, 'choices'],
    ['/openai/v1/chat/completions', chat, 'choices'],
    ['/openai/deployments/echo/chat/completions?api-version=2024-10-21', { messages }, 'choices'],
    ['/openai/v1/responses', { model: 'echo', input: 'Hi' }, 'output'],
    ['/anthropic/v1/messages', turn, 'content'],
    ['/v1beta/models/echo:generateContent', contents, 'candidates'],
    ['/gemini/v1beta/models/echo:generateContent', contents, 'candidates'],
    ['/v2/chat', chat, 'message'],
  ])('%s is answered in the dialect of its clients', async (address, body, member) => {
    const response = await gateway.fetch(address, chatInit(body))
    expect([response.status, await response.json()]).toMatchObject([200, { [member]: expect.anything() }])
  })

  it.each([
    ['api-key', '/openai/deployments/echo/chat/completions?api-version=x'],
    ['x-api-key', '/anthropic/v1/messages'],
    ['x-goog-api-key', '/v1beta/models/echo:generateContent'],
  ])('may have its key in %s', async (header, address) => {
    const body = JSON.stringify({ ...turn, ...contents })
    const headers = { 'content-type': 'application/json', [header]: MASTER_KEY, authorization: '' }
    const response = await gateway.fetch(address, { method: 'POST', headers, body })
    expect(response.status).not.toBe(401)
  })
})
