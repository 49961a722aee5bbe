import type { ChatRequest } from '../../modes/chat.ts'
import type { Drop } from '../../modes/field-table.ts'
import { withCallAskedFor } from '../wire/fitting/asked-call.ts'
import { claudeVersion } from './claude-version.ts'

/** A request that asks for a call in words, where its model refuses to be made to call a tool: those since 5.1 do, all but
 *  Haiku. */
export function withAskedCall(body: ChatRequest, model: string, drop: Drop): ChatRequest {
  return claudeVersion(model) > 500 && !/haiku/.test(model) ? withCallAskedFor(body, drop) : body
}
