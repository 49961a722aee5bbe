import { camelCase } from '../../../lib/json/camel-case.ts'
import { asText } from '../../../lib/json/lenient.ts'
import type { ChatRequest } from '../../../modes/chat.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import { inexpressible } from '../inexpressible.ts'
import { chatMessages } from './contents.ts'
import { GEMINI_FIELDS } from './fields.ts'
import { chatSettings, configOf } from './generation-config.ts'
import type { GenerateContentRequest } from './schema.ts'
import { chatTools } from './tools.ts'

/** A request of Gemini's API as chat. Throws a 400 naming the first field that chat cannot express. */
export function toChat(request: GenerateContentRequest, drop: Drop = () => {}): ChatRequest {
  const fields = camelCase(request)
  applyTable(fields, GEMINI_FIELDS, {
    drop,
    refuse(field) {
      const message = `'${field}' needs a provider that speaks this dialect itself, and no deployment of this model does. Leave it out.`
      throw inexpressible(field, message)
    },
  })
  return {
    model: request.model,
    messages: chatMessages(fields, drop),
    ...chatTools(fields, drop),
    ...chatSettings(configOf(request), drop),
    ...serviceTier(fields.serviceTier),
    ...(request.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

/** The API's words for its tiers are those of chat. */
function serviceTier(tier: unknown): object {
  const word = asText(tier).toLowerCase()
  if (word === '' || word === 'unspecified') return {}
  return { service_tier: word === 'standard' ? 'default' : word }
}
