import { entryOf } from '../lib/json/lenient.ts'
import { type Mistake, pathText } from './config-error.ts'
import { type Environment, type Resolved, variable } from './env-references.ts'
import { isMap } from './fields.ts'

const SIGNALS = ['traces', 'metrics', 'logs'] as const
const LONGEST_TIMEOUT_SECONDS = 600

/** A setting that a variable gives. */
interface Found {
  readonly path: readonly string[]
  readonly value: unknown
  /** The variable's name. */
  readonly name: string
}

/** The settings of exports. Of each there is a variable for all signals, and one for each of them. A text that a setting
 *  cannot be read from stays text, which the schema refuses. */
const EXPORT_SETTINGS: Readonly<Record<string, (text: string) => unknown>> = {
  endpoint: (text) => text,
  headers: pairs,
  protocol: (text) => text.toLowerCase(),
  compression: (text) => text.toLowerCase(),
  timeout: seconds,
}

/** What each sampler is in our settings. Those without a share take OTEL_TRACES_SAMPLER_ARG. */
const SAMPLERS: Readonly<Record<string, { readonly isParentBased: boolean; readonly share?: number }>> = {
  always_on: { isParentBased: false, share: 1 },
  always_off: { isParentBased: false, share: 0 },
  traceidratio: { isParentBased: false },
  parentbased_always_on: { isParentBased: true, share: 1 },
  parentbased_always_off: { isParentBased: true, share: 0 },
  parentbased_traceidratio: { isParentBased: true },
}

/** Fills what the file leaves open of its callbacks for OpenTelemetry from the standard `OTEL_*` variables. */
export function withOtelVariables({ tree, variables, mistakes }: Resolved, env: Environment): Resolved {
  const settings = isMap(tree) ? tree.gateway_settings : undefined
  const callbacks = isMap(settings) ? (settings.callback_settings ?? {}) : undefined
  if (!isMap(tree) || !isMap(settings) || !isMap(callbacks)) return { tree, variables, mistakes }
  const filled = { ...callbacks }
  const sources = new Map(variables)
  const further: Mistake[] = []
  for (const callback of ['otel', 'opentelemetry']) {
    const own = callbacks[callback] ?? {}
    const isOn = Array.isArray(settings.success_callback) && settings.success_callback.includes(callback)
    if (!isOn || !isMap(own)) continue
    const above = ['gateway_settings', 'callback_settings', callback]
    for (const { path, value, name } of foundIn(env, own)) {
      filled[callback] = withValue(filled[callback], path, value)
      const at = [...above, ...path]
      sources.set(pathText(at), name)
      if (isMap(value)) for (const key of Object.keys(value)) sources.set(pathText([...at, key]), name)
    }
    if (own.sampling === undefined && own.parent_based === undefined)
      further.push(...mistakesInSampler(env, pathText([...above, 'sampling'])))
  }
  return {
    tree: { ...tree, gateway_settings: { ...settings, callback_settings: filled } },
    variables: sources,
    mistakes: [...mistakes, ...further],
  }
}

/** A setting of the file wins over its variable, and over the variables of single signals. */
function foundIn(env: Environment, own: Readonly<Record<string, unknown>>): Found[] {
  const found: Found[] = []
  const take = (path: readonly string[], name: string, read: (text: string) => unknown) => {
    const text = variable(env, name)?.trim()
    if (text) found.push({ path, name, value: read(text) })
  }
  const ofSignals = own.per_signal ?? {}
  for (const [setting, read] of Object.entries(EXPORT_SETTINGS)) {
    if (own[setting] !== undefined) continue
    const suffix = setting.toUpperCase()
    take([setting], `OTEL_EXPORTER_OTLP_${suffix}`, read)
    // What is no map is left to the schema, which refuses it.
    if (!isMap(ofSignals)) continue
    for (const signal of SIGNALS) {
      const ofSignal = ofSignals[signal] ?? {}
      if (!isMap(ofSignal) || ofSignal[setting] !== undefined) continue
      take(['per_signal', signal, setting], `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${suffix}`, read)
    }
  }
  if (own.service_name === undefined) {
    const attributes = pairs(variable(env, 'OTEL_RESOURCE_ATTRIBUTES') ?? '')
    if (variable(env, 'OTEL_SERVICE_NAME')) take(['service_name'], 'OTEL_SERVICE_NAME', (text) => text)
    else if (isMap(attributes) && attributes['service.name'])
      take(['service_name'], 'OTEL_RESOURCE_ATTRIBUTES', () => attributes['service.name'])
  }
  if (own.resource_attributes === undefined) take(['resource_attributes'], 'OTEL_RESOURCE_ATTRIBUTES', pairs)
  if (own.sampling === undefined && own.parent_based === undefined) found.push(...sampler(env))
  return [...found, ...signals(env, own)]
}

const SAMPLER = 'OTEL_TRACES_SAMPLER'
const samplerIn = (env: Environment) => variable(env, SAMPLER)?.trim().toLowerCase() ?? ''

function sampler(env: Environment): Found[] {
  const chosen = entryOf(SAMPLERS, samplerIn(env))
  if (!chosen) return []
  const argument = `${SAMPLER}_ARG`
  const share = variable(env, argument)?.trim()
  const takesShare = chosen.share === undefined && share
  return [
    { path: ['sampling'], name: takesShare ? argument : SAMPLER, value: takesShare ? share : (chosen.share ?? 1) },
    { path: ['parent_based'], name: SAMPLER, value: chosen.isParentBased },
  ]
}

function mistakesInSampler(env: Environment, path: string): Mistake[] {
  const name = samplerIn(env)
  if (name === '' || entryOf(SAMPLERS, name)) return []
  const choices = Object.keys(SAMPLERS).join(', ')
  return [{ path, message: `the environment variable ${SAMPLER} must be one of ${choices}; this setting wins over it` }]
}

/** A signal is told unless its variable names other exporters alone. OTEL_SDK_DISABLED wins over the file. */
function signals(env: Environment, own: Readonly<Record<string, unknown>>): Found[] {
  const disabled = 'OTEL_SDK_DISABLED'
  if (variable(env, disabled)?.trim().toLowerCase() === 'true')
    return [{ path: ['signals'], name: disabled, value: [] }]
  if (own.signals !== undefined) return []
  const nameOf = (signal: string) => `OTEL_${signal.toUpperCase()}_EXPORTER`
  const exporters = (signal: string) => variable(env, nameOf(signal))?.toLowerCase().split(',')
  const isTold = (signal: string) => exporters(signal)?.some((one) => one.trim() === 'otlp') ?? true
  const told = SIGNALS.filter(isTold)
  const [silent] = SIGNALS.filter((signal) => !isTold(signal))
  return silent === undefined ? [] : [{ path: ['signals'], name: nameOf(silent), value: told }]
}

/** `key=value,key2=value2`, percent-encoded. */
function pairs(text: string): Readonly<Record<string, string>> | string {
  const entries: [string, string][] = []
  for (const one of text.split(',')) {
    if (one.trim() === '') continue
    const at = one.indexOf('=')
    if (at < 1) return text
    try {
      entries.push([decodeURIComponent(one.slice(0, at).trim()), decodeURIComponent(one.slice(at + 1).trim())])
    } catch {
      return text
    }
  }
  return Object.fromEntries(entries)
}

/** Milliseconds as seconds; 0 means no limit. */
function seconds(text: string): number | string {
  if (!/^\d+$/.test(text)) return text
  return text === '0' ? LONGEST_TIMEOUT_SECONDS : Number(text) / 1000
}

function withValue(tree: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  const map = isMap(tree) ? tree : {}
  return { ...map, [key]: withValue(map[key], rest, value) }
}
