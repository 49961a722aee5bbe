import { eitherCase, spelledIn } from '../../../lib/json/camel-case.ts'
import { asRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import type { DefaultChanges } from '../../../pipeline/translate/default-fields.ts'
import type { Capped } from '../../../pipeline/translate/dialect.ts'
import { thinkingOf } from '../../../providers/gemini/thinking.ts'

/** The members of `generationConfig`, by their names in chat. */
const MEMBERS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
}
/** Members of the request itself. */
const TOP: Readonly<Record<string, string>> = { safety_settings: 'safetySettings', cached_content: 'cachedContent' }

/** A deployment's `default_params` as changes of a native request. */
export const geminiDefaults: DefaultChanges = (defaults, request, model) => {
  const own = asRecord(eitherCase(request, 'generationConfig'))
  const missing: Record<string, unknown> = {}
  const changes: Record<string, unknown> = {}
  const set = (member: string, value: unknown) => {
    if (value !== undefined && value !== null && eitherCase(own, member) === undefined) missing[member] = value
  }
  for (const [name, member] of Object.entries(MEMBERS)) set(member, defaults[name])
  if (defaults.stop !== undefined && defaults.stop !== null) set('stopSequences', [defaults.stop].flat())
  const { thinking, reasoning_effort } = defaults
  if (thinking || reasoning_effort)
    set('thinkingConfig', thinkingOf({ model, messages: [], thinking, reasoning_effort }, model))
  for (const [name, member] of Object.entries(TOP)) {
    if (defaults[name] !== undefined && eitherCase(request, member) === undefined) changes[member] = defaults[name]
  }
  if (Object.keys(missing).length > 0) changes[spelledIn(request, 'generationConfig')] = { ...own, ...missing }
  return changes
}

/** Lowers the limit of a request to what its model has. */
export function geminiCapped(request: ModelRequest, most: number): Capped | undefined {
  const place = spelledIn(request, 'generationConfig')
  const config: JsonRecord = asRecord(request[place])
  const name = spelledIn(config, 'maxOutputTokens')
  const asked = config[name]
  if (typeof asked !== 'number' || asked <= most) return undefined
  return { field: 'generationConfig.maxOutputTokens', changes: { [place]: { ...config, [name]: most } } }
}
