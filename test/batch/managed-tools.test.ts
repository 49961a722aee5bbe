import { expect, it } from 'vitest'
import { asksForManagedTools } from '../../src/batch/managed-tools.ts'

const chat = '/v1/chat/completions'

it.each([
  [chat, [{ type: 'function', function: { name: 'f' } }], false],
  [chat, [{ type: 'function' }, { type: 'mcp', server: 'github' }], true],
  [chat, [{ type: 'mcp', server_label: 'x', server_url: 'https://mcp.example.com' }], true],
  ['/v1/responses', [{ type: 'mcp', server: 'github' }], true],
  ['/v1/responses', [{ type: 'mcp', server_label: 'x', server_url: 'https://mcp.example.com' }], false],
  ['/v1/responses', [{ type: 'mcp', server_label: 'x', connector_id: 'connector_gmail' }], false],
  ['/v1/responses', [{ type: 'mcp', server: 'github', connector_id: 'connector_gmail' }], true],
  ['/v1/responses', [{ type: 'mcp', server_label: 'github' }], true],
  [chat, undefined, false],
  [chat, [null, 'mcp', 7], false],
  [chat, 'mcp', false],
])('at %s the tools %j are managed: %s', (url, tools, managed) => {
  expect(asksForManagedTools({ url, body: { tools } })).toBe(managed)
})

it.each([{}, { url: chat }, { url: chat, body: null }, { url: chat, body: [] }])('%j asks for none', (request) => {
  expect(asksForManagedTools(request)).toBe(false)
})
