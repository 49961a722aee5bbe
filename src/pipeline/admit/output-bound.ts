import { asRecord, entryOf } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Endpoint } from '../endpoint.ts'
import { OUTPUT_LIMITS, settingsOf } from '../translate/dialect.ts'

/** The assumed answer length of a call without a limit, if the model's maximum is unknown. Larger explicit limits are
 *  rarely meant to be reached. */
const LONG_ANSWER = 4096
/** More than any model writes; caps absurd numbers in requests. */
const MOST_TOKENS = 1_000_000_000
/** More choices than any vendor gives to one request. */
const MOST_ANSWERS = 1024

/** Reasoning tokens by effort name: the most that any translator makes of it. */
const THOUGHTS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

/** Bounds on the answer to a request. */
export interface OutputBound {
  /** The most tokens of all choices together. */
  readonly tokens: number
  readonly answers: number
  /** The call has a limit of its own. */
  readonly limited: boolean
  /** The limit was set explicitly and is small enough to be reached. */
  readonly meant: boolean
}

/** The longest answer that a deployment may give. A limit in the request's own dialect binds; fields of other dialects
 *  can only raise it, since some vendors honour them. Of two limits the larger counts. */
export function outputBound(endpoint: Endpoint, request: ModelRequest, deployment: Deployment): OutputBound {
  const { defaults } = deployment.connection
  const settings = settingsOf(endpoint.dialect, request)
  const asked = Math.max(1, countOf(settings, defaults, 'n'), countOf(settings, defaults, 'best_of'))
  const answers = Math.min(asked, MOST_ANSWERS)
  const longest = endpoint.mode.longest?.(request, defaults)
  if (longest !== undefined) return { tokens: longest * answers, answers, limited: false, meant: longest === 0 }
  const own = ownLimit(endpoint, settings, defaults)
  let each = Math.max(own ?? unlimited(endpoint, settings, deployment), reasoningBudget(settings, defaults))
  for (const field of OUTPUT_LIMITS) each = Math.max(each, numberOf(settings[field]) ?? 0)
  const tokens = Math.ceil(Math.min(each, MOST_TOKENS)) * answers
  const limited = own !== undefined
  return { tokens, answers, limited, meant: limited && each <= LONG_ANSWER }
}

type Fields = Readonly<Record<string, unknown>>

function ownLimit({ dialect }: Endpoint, request: Fields, defaults: Fields): number | undefined {
  const names = typeof dialect?.defaults === 'function' ? undefined : dialect?.defaults
  let own: number | undefined
  let preset: number | undefined
  let mentioned = false
  for (const field of OUTPUT_LIMITS) {
    const name = names ? entryOf(names, field) : field === 'max_output_tokens' ? undefined : field
    if (request[field] !== undefined) mentioned = true
    if (typeof name !== 'string') continue
    if (request[name] !== undefined) mentioned = true
    const value = request[name]
    if (typeof value === 'number' && value >= 0) own = Math.max(own ?? 0, value)
    const set = defaults[field]
    if (typeof set === 'number' && set >= 0) preset = Math.max(preset ?? 0, set)
  }
  // A default limit is not sent if the request has any limit.
  return own ?? (mentioned ? undefined : preset)
}

/** The bound of a call without a limit. */
function unlimited({ mode }: Endpoint, request: Fields, { adapter, info, connection }: Deployment): number {
  const set = adapter('chat', mode.name)?.setsLimit
  if (set === undefined && info.max_output_tokens !== undefined) return info.max_output_tokens
  const { defaults, model } = connection
  const named = entryOf(THOUGHTS, effortOf(request, defaults)) ?? 0
  const thoughts = Math.max(named, reasoningBudget(request, defaults))
  return set?.(model, thoughts) ?? LONG_ANSWER + thoughts
}

/** The reasoning effort that a request asks for, under the name that its vendor has for it. */
export function effortOf(request: Fields, defaults: Fields): unknown {
  return (
    request.reasoning_effort ??
    asRecord(request.reasoning).effort ??
    asRecord(request.output_config).effort ??
    defaults.reasoning_effort
  )
}

/** The reasoning budget of a request: some vendors count it on top of the limit. */
function reasoningBudget(request: Fields, defaults: Fields): number {
  const { budget_tokens } = asRecord(request.thinking ?? defaults.thinking)
  const { max_tokens } = asRecord(request.reasoning ?? defaults.reasoning)
  return Math.max(numberOf(budget_tokens) ?? 0, numberOf(max_tokens) ?? 0)
}

function countOf(request: Fields, defaults: Fields, field: string): number {
  return numberOf(request[field] ?? defaults[field]) ?? 1
}

/** Some vendors accept numbers as strings. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && number >= 0 ? number : undefined
}
