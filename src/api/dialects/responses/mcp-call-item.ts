import { asText, type JsonRecord } from '../../../lib/json/lenient.ts'
import { callArguments } from '../../../providers/wire/call-arguments.ts'

/** The call of a function that an item of an earlier answer stands for, and its result. */
export interface ToldCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly output: string
}

/** Reads an item `mcp_call`, the tool of a server, by the name under which models know such a tool. */
export function toldCall({ id, name, arguments: text, output, error }: JsonRecord, server: string): ToldCall {
  return {
    callId: callIdIn(id),
    name: `${server}__${asText(name)}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64),
    // Several vendors refuse arguments that are no object.
    arguments: (callArguments(text) && asText(text)) || '{}',
    output: typeof output === 'string' ? output : asText(error),
  }
}

/** The ids of such items hold those of their calls, by which a provider knows them. */
const PREFIX = 'mcp_'
export const mcpCallId = (callId: string): string => `${PREFIX}${callId}`
const callIdIn = (id: unknown): string => asText(id).slice(asText(id).startsWith(PREFIX) ? PREFIX.length : 0)
