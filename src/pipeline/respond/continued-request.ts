import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import type { ChatRequest } from '../../modes/chat.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import { dropper, type Outgoing } from '../../providers/provider.ts'
import { withDefaults } from '../attempt/with-defaults.ts'
import type { Attempt, Call } from '../call.ts'
import { defaultFields } from '../translate/default-fields.ts'
import { namesOf } from '../translate/dialect.ts'

const encoder = new TextEncoder()

/** The client's request with the answer so far as a prefix of the assistant's turn. */
export function continuedRequest(call: Call, started: Attempt, told: string): Outgoing {
  const { chatDefaults = {}, ...own } = withDefaults(call, started.deployment, true, started)
  const asked = call.endpoint.dialect?.toChat(own.body, dropper({ notes: started })) ?? (own.body as ChatRequest)
  const missing = defaultFields(chatDefaults, asked)
  const chat = { ...asked, ...missing }
  // Some vendors reject a prefix that ends with whitespace.
  const prefix = told.trimEnd()
  const changes: Record<string, unknown> = {
    ...missing,
    stream_options: { ...chat.stream_options, include_usage: true },
  }
  if (prefix !== '') changes.messages = [...chat.messages, { role: 'assistant', content: prefix }]
  for (const limit of ['max_tokens', 'max_completion_tokens']) {
    const tokens = chat[limit]
    if (typeof tokens === 'number') changes[limit] = Math.max(1, tokens - tokensOfCharacters(told.length))
  }
  const body = { ...chat, ...changes }
  if ((asked as object) === own.body) return { ...own, body, bytes: joinBytes(editJson(own.bytes, asked, changes)) }
  const { dialect } = call.endpoint
  const names = dialect && namesOf(dialect, own.body)
  const bytes = encoder.encode(JSON.stringify(body))
  return { ...own, body, bytes, translated: true, ...(names ? { clientNames: names } : {}) }
}
