import type { Answer, Row } from '../../data/client.ts'

export type Server = Row<'GET /ui/api/mcp-servers'>
export type Checked = Answer<'POST /ui/api/mcp-servers/check'>
export type Tool = Checked['tools'][number]

export const AUTH = { none: 'none', bearer: 'bearer token', header_map: 'headers' } as const

export const WHY: Readonly<Record<string, string>> = {
  unreachable: 'It cannot be reached.',
  timeout: 'It did not answer in time.',
  refused: 'It refuses the credentials.',
  protocol: 'It does not speak MCP over Streamable HTTP.',
  too_large: 'Its answer is too large.',
}
