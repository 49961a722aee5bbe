import { clientNames, type FieldTable, prefixed } from '../../modes/field-table.ts'
import { idPlaces } from '../../pipeline/ids/named-ids.ts'
import { asDialect } from '../../pipeline/translate/dialect.ts'
import { cannotCount, geminiErrorEvent } from './gemini/errors.ts'
import { geminiEvents } from './gemini/event-stream.ts'
import { CONFIG_FIELDS, GEMINI_FIELDS } from './gemini/fields.ts'
import { followGemini } from './gemini/follow.ts'
import { fromChat } from './gemini/from-chat.ts'
import { settingsInChat, showsThoughts } from './gemini/generation-config.ts'
import { prependToGemini } from './gemini/prepend.ts'
import {
  type GeminiCountRequest,
  type GenerateContentRequest,
  geminiCountRequest,
  generateContentRequest,
} from './gemini/schema.ts'
import { geminiCapped, geminiDefaults } from './gemini/settings.ts'
import { toChat } from './gemini/to-chat.ts'

const ids = idPlaces([
  { path: 'cachedContent', kind: 'cached_content' },
  { path: 'cached_content', kind: 'cached_content' },
  { path: 'generateContentRequest.cachedContent', kind: 'cached_content' },
  { path: 'generate_content_request.cached_content', kind: 'cached_content' },
])

/** The same fields, with the names of those that chat names alike. */
function named(table: FieldTable): FieldTable {
  return Object.fromEntries(
    Object.entries(table).map(([field, rule]) => [field, rule.fate === 'carried' ? { as: field, ...rule } : rule]),
  )
}

/** Gemini's generateContent, whole and streamed: native at Google, translated by way of chat for every other. */
export const geminiDialect = asDialect<GenerateContentRequest>({
  native: 'generate_content',
  schema: generateContentRequest,
  exactMembers: new Set(['args', 'response', 'parametersJsonSchema', 'responseJsonSchema']),
  ids,
  defaults: geminiDefaults,
  settings: settingsInChat,
  capped: geminiCapped,
  names: clientNames({ ...prefixed('generationConfig', named(CONFIG_FIELDS)), ...GEMINI_FIELDS }),
  prepend: prependToGemini,
  toChat,
  fromChat,
  stream: (request) => geminiEvents(showsThoughts(request)),
  follow: followGemini,
  errorEvent: geminiErrorEvent,
})

/** Counts the tokens of a request where its provider does, and estimates them elsewhere. */
export const geminiCountDialect = asDialect<GeminiCountRequest>({
  native: 'gemini_count_tokens',
  schema: geminiCountRequest,
  ids,
  defaults: {},
  prepend: prependToGemini,
  toChat: () => {
    throw cannotCount()
  },
  fromChat: () => {
    throw cannotCount()
  },
  stream: () => geminiEvents(false),
  estimate: (tokens) => ({ totalTokens: tokens }),
  errorEvent: geminiErrorEvent,
})
