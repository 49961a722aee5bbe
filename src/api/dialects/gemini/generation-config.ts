import { camelCase, eitherCase } from '../../../lib/json/camel-case.ts'
import { asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import type { ModelRequest } from '../../../modes/mode.ts'
import { effortOfBudget } from '../../../providers/wire/fitting/nearest-effort.ts'
import { inexpressible } from '../inexpressible.ts'
import { CONFIG_FIELDS } from './fields.ts'
import { jsonSchema } from './json-schema.ts'

/** The generation settings of a request. */
export const configOf = (request: JsonRecord): JsonRecord => camelCase(eitherCase(request, 'generationConfig'))

/** Whether the client wants to see the model's thoughts. */
export const showsThoughts = (request: ModelRequest): boolean =>
  camelCase(configOf(request).thinkingConfig).includeThoughts === true

/** The generation settings as fields of chat. */
export function chatSettings(config: JsonRecord, drop: Drop): JsonRecord {
  applyTable(config, CONFIG_FIELDS, {
    drop: (field) => drop(`generationConfig.${field}`),
    refuse(field) {
      const at = `generationConfig.${field}`
      throw inexpressible(
        at,
        `'${at}' needs a provider that speaks this dialect itself, and no deployment of this model does. Leave it out.`,
      )
    },
  })
  const { stopSequences } = config
  return {
    ...known({
      temperature: config.temperature,
      top_p: config.topP,
      top_k: config.topK,
      // The newer name. The adapter of a vendor that knows only the older one translates it.
      max_completion_tokens: config.maxOutputTokens,
      stop: Array.isArray(stopSequences) && stopSequences.length > 0 ? stopSequences : undefined,
      n: config.candidateCount === 1 ? undefined : config.candidateCount,
      seed: config.seed,
      presence_penalty: config.presencePenalty,
      frequency_penalty: config.frequencyPenalty,
      reasoning_effort: effortOf(config),
    }),
    ...(config.responseLogprobs === true ? known({ logprobs: true, top_logprobs: config.logprobs }) : {}),
    ...responseFormat(config),
    ...modalities(config.responseModalities),
  }
}

const LEVELS: ReadonlySet<string> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh'])

/** Chat has named efforts instead of a number of tokens: the budget becomes the nearest one. The model decides of -1, and
 *  not to think is what models do that are not asked to. */
function effortOf({ thinkingConfig }: JsonRecord): string | undefined {
  const { thinkingLevel, thinkingBudget } = camelCase(thinkingConfig)
  const level = asText(thinkingLevel).toLowerCase()
  if (LEVELS.has(level)) return level
  const budget = Number(thinkingBudget ?? 0)
  if (!(budget > 0)) return undefined
  return effortOfBudget(budget)
}

function responseFormat({ responseMimeType, responseSchema, responseJsonSchema }: JsonRecord): JsonRecord {
  const type = asText(responseMimeType)
  if (type === '' || type === 'text/plain') return {}
  if (type !== 'application/json') {
    const at = 'generationConfig.responseMimeType'
    throw inexpressible(at, `'${at}': only text/plain and application/json are known to other providers.`)
  }
  const schema = isRecord(responseJsonSchema)
    ? responseJsonSchema
    : isRecord(responseSchema)
      ? jsonSchema(responseSchema, true)
      : undefined
  if (!schema) return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema } } }
}

function modalities(asked: unknown): JsonRecord {
  if (!Array.isArray(asked) || asked.length === 0) return {}
  const words = asked.map((one) => asText(one).toLowerCase())
  if (words.every((word) => word === 'text')) return {}
  if (words.every((word) => word === 'text' || word === 'image')) return { modalities: words }
  const at = 'generationConfig.responseModalities'
  throw inexpressible(at, `'${at}': other providers answer with text and images only.`)
}

function known(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** What bounds and varies an answer, by its names in chat. */
export function settingsInChat(request: ModelRequest): JsonRecord {
  const config = configOf(request)
  const { thinkingBudget } = camelCase(config.thinkingConfig)
  return known({
    temperature: config.temperature,
    max_completion_tokens: config.maxOutputTokens,
    n: config.candidateCount,
    reasoning_effort: effortOf(config),
    thinking: Number(thinkingBudget) > 0 ? { budget_tokens: thinkingBudget } : undefined,
  })
}
