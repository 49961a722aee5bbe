import { camelName } from '../../lib/json/camel-case.ts'
import { asList, asRecord, asText, entryOf, hasAnyOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../mode.ts'
import { type AskedSurcharge, type Terms, type ToolUses, UNPRICED, USUAL } from './surcharges.ts'

const NOTHING: readonly AskedSurcharge[] = []
/** The assumed number of uses of a tool where the request has no limit. */
const LIKELY_USES = 5
const MOST_USES = 20

/** The surcharges that a chat request of any dialect asks for. */
export function surchargesAsked(request: ModelRequest): readonly AskedSurcharge[] {
  if (!hasAnyOf(request, FIELDS)) return NOTHING
  return [
    ...termsAsked(request),
    ...termsAsked(asRecord(request.additionalModelRequestFields), 'additionalModelRequestFields.'),
    ...toolsAsked(request),
    ...searchesAsked(request),
  ]
}

const SEARCHES = ['web_search_options', 'enable_search', 'web_search'] as const
const TERMS = ['service_tier', 'speed', 'inference_geo', 'performanceConfig'] as const
const OTHERS = ['tools', 'additionalModelRequestFields', 'search_parameters', 'plugins', 'guardrailConfig'] as const
/** All fields that can ask for a surcharge. Most requests have none of them. */
const FIELDS: ReadonlySet<string> = new Set([...TERMS, ...SEARCHES, ...OTHERS, 'serviceTier'])

function termsAsked(fields: JsonRecord, at = ''): AskedSurcharge[] {
  return TERMS.flatMap((name) => {
    const value = fields[name] ?? fields[camelName(name)]
    if (value === undefined || value === null) return []
    const word = termIn(value)
    if (USUAL.has(word)) return []
    return [{ kind: 'term' as const, name, value: word, param: at + name, most: undefined }]
  })
}

/** The value of a term. Some vendors wrap it in an object. */
function termIn(value: unknown): string {
  const { type, latency } = asRecord(value)
  return (asText(value) || asText(type) || asText(latency)).trim().toLowerCase() || UNPRICED
}

/** Tools without a surcharge: the client runs them itself, or the provider bills only their tokens. */
const FREE_TOOLS: ReadonlySet<string> = new Set([
  ...['function', 'custom', 'bash', 'text_editor', 'computer', 'computer_use', 'computer_use_preview', 'memory'],
  ...['local_shell', 'apply_patch', 'mcp', 'mcp_toolset', 'namespace', 'tool_search', 'web_fetch'],
  ...['tool_search_tool_regex', 'tool_search_tool_bm25'],
])
const VERSION = /_(\d{8}|\d{4}_\d{2}_\d{2})$/

/** A tool's name in `tool_costs`: its type without the version. */
export const toolName = (type: string): string => type.toLowerCase().replace(VERSION, '')

function toolsAsked({ tools, max_tool_calls }: ModelRequest): AskedSurcharge[] {
  return asList(tools).flatMap((tool, index) => {
    const { type, max_uses, environment } = asRecord(tool)
    if (type === undefined) return googleTools(asRecord(tool), `tools.${index}`)
    const name = toolName(asText(type))
    if (name === '' || FREE_TOOLS.has(name)) return []
    if (name === 'shell' && !isHosted(environment)) return []
    return [use(name, `tools.${index}.type`, max_uses ?? max_tool_calls)]
  })
}

/** Tools of Gemini's API that are billed by use. They are members of a tool, in either spelling. */
const GOOGLE_TOOLS: Readonly<Record<string, string>> = {
  googleSearch: 'google_search',
  googleSearchRetrieval: 'google_search',
  enterpriseWebSearch: 'enterprise_web_search',
  exaAiSearch: 'exa_ai_search',
  parallelAiSearch: 'parallel_ai_search',
  googleMaps: 'google_maps',
}

function googleTools(tool: JsonRecord, at: string): AskedSurcharge[] {
  return Object.keys(tool).flatMap((member) => {
    const name = entryOf(GOOGLE_TOOLS, camelName(member))
    return name === undefined || !isOn(tool[member]) ? [] : [use(name, `${at}.${member}`, undefined)]
  })
}

function isHosted(environment: unknown): boolean {
  return isRecord(environment) && environment.type !== 'local'
}

/** Searches and other services that a request asks for by fields of their own instead of a tool. */
function searchesAsked(request: ModelRequest): AskedSurcharge[] {
  const asked: AskedSurcharge[] = []
  for (const field of SEARCHES) {
    if (isOn(request[field])) asked.push(use('web_search', field, undefined))
  }
  const { search_parameters: live, plugins, guardrailConfig } = request
  if (isOn(live) && asRecord(live).mode !== 'off') {
    asked.push(use('live_search', 'search_parameters', asRecord(live).max_search_results))
  }
  if (isOn(guardrailConfig)) asked.push(use('guardrail', 'guardrailConfig', 1))
  for (const [index, plugin] of asList(plugins).entries()) {
    const id = asText(asRecord(plugin).id).toLowerCase()
    asked.push(use(id === 'web' ? 'web_search' : id || UNPRICED, `plugins.${index}`, 1))
  }
  return asked
}

function isOn(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}

function use(name: string, param: string, limit: unknown): AskedSurcharge {
  const most = typeof limit === 'number' && limit >= 0 ? Math.min(limit, MOST_USES) : LIKELY_USES
  return { kind: 'use', name, value: '', param, most }
}

/** Surcharges as part of a usage, with `times` as the number of uses of each tool. */
export function asUsage(
  asked: readonly AskedSurcharge[],
  times: (use: AskedSurcharge) => number,
): { readonly terms?: Terms; readonly toolUses?: ToolUses } {
  if (asked.length === 0) return NO_USAGE
  const terms: Record<string, string> = {}
  const toolUses: Record<string, number> = {}
  for (const one of asked) {
    if (one.kind === 'term') terms[one.name] = one.value
    else toolUses[one.name] = Math.max(toolUses[one.name] ?? 0, times(one))
  }
  return { terms, toolUses }
}

const NO_USAGE = {}

export const once = (): number => 1
export const asOftenAsItMay = ({ most }: AskedSurcharge): number => most ?? 1
