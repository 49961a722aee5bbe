import { asList, asRecord, asText, isRecord } from '../../lib/json/lenient.ts'
import { dropper, type Outgoing } from '../provider.ts'

const HEADER = 'anthropic-beta'

/** Betas that Vertex refuses, by their names without the day. Claude Code sends some of them whatever stands behind its
 *  address. Those that it does not know yet either are left to it. */
const REFUSED =
  /^(adaptive-thinking|advisor-tool|code-execution|effort|fast-mode|files-api|fine-grained-tool-streaming|mcp-(client|servers)|oauth|output-128k|prompt-caching-scope|skills|structured-outputs?|token-efficient-tools|web-fetch)-\d/

/** A beta that has another name there. */
const RENAMED = { from: 'advanced-tool-use-2025-11-20', to: 'tool-search-tool-2025-10-19' }

/** A call of the Messages API with the client's betas as Vertex takes them; the operator's stay as they are. */
export function withTakenBetas(call: Outgoing): Outgoing {
  const betas = namesIn(call)
  if (!betas.some((name) => REFUSED.test(name) || name === RENAMED.from)) return call
  const taken = betas.filter((name) => !REFUSED.test(name)).map((name) => (name === RENAMED.from ? RENAMED.to : name))
  if (taken.length < betas.length) dropper(call)(HEADER)
  return { ...call, clientHeaders: { ...call.clientHeaders, [HEADER]: taken.join(',') } }
}

/** The fields of a call without the scopes of cache marks, which need a beta that Vertex refuses. */
export function withoutScopes(call: Outgoing): Record<string, unknown> {
  if (!namesIn(call).some((name) => name.startsWith('prompt-caching-scope-'))) return {}
  const { system, tools } = call.body
  return { ...scopeless('system', system), ...scopeless('tools', tools) }
}

function scopeless(field: string, list: unknown): Record<string, unknown> {
  const hasScope = (item: unknown) => asRecord(asRecord(item).cache_control).scope !== undefined
  if (!asList(list).some(hasScope)) return {}
  const changed = asList(list).map((item) => {
    if (!isRecord(item) || !hasScope(item)) return item
    const { scope: _, ...cache_control } = asRecord(item.cache_control)
    return { ...item, cache_control }
  })
  return { [field]: changed }
}

function namesIn({ clientHeaders }: Outgoing): string[] {
  return asText(clientHeaders?.[HEADER])
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
