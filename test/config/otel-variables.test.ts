import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config-error.ts'
import { reveal } from '../../src/lib/secret.ts'
import { loadConfig } from '../../src/routing/configuration.ts'

type Variables = Readonly<Record<string, string>>

/** The settings of otel, where the file says no more than `own` of it. */
function settingsOf(variables: Variables, own = '{}', callback = 'otel') {
  const yaml = `gateway_settings: {success_callback: [${callback}], callback_settings: {${callback}: ${own}}}`
  const all = loadConfig(yaml, variables).gateway_settings.callback_settings
  const settings = all[callback as 'otel']
  if (!settings) throw new Error('there are no settings')
  return settings
}
/** An address without a key prints as it is. */
const printed = (endpoint: string) => ({ endpoint: expect.toSatisfy((address) => String(address) === endpoint) })
const opened = (headers: ReturnType<typeof settingsOf>['headers'] = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, reveal(value)]))

function mistakesOf(variables: Variables, own?: string): string[] {
  try {
    settingsOf(variables, own)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  return []
}

describe('the variables of OpenTelemetry', () => {
  const exporter = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/base/',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a%2Cb, x-tenant = one=two',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/JSON',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  }

  it.each(['otel', 'opentelemetry'])('say what the file leaves open of %s', (callback) => {
    const settings = settingsOf(exporter, '{}', callback)
    expect(settings).toMatchObject({
      ...printed('http://collector:4318/base/'),
      protocol: 'http/json',
      timeout: 2.5,
      compression: 'gzip',
      per_signal: {},
    })
    expect(opened(settings.headers)).toEqual({ Authorization: 'Bearer a,b', 'x-tenant': 'one=two' })
  })

  it('are enough without any settings, and say nothing of what is not switched on', () => {
    const on = loadConfig('gateway_settings: {success_callback: [otel]}', exporter)
    expect(on.gateway_settings.callback_settings.otel?.timeout).toBe(2.5)
    expect(on.gateway_settings.callback_settings.opentelemetry).toBeUndefined()
    const off = loadConfig('gateway_settings: {callback_settings: {otel: {}}}', {
      ...exporter,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    })
    expect(off.gateway_settings.callback_settings.otel).toMatchObject(printed('http://localhost:4318'))
  })

  it('of a signal win over those of all, and the file wins over both', () => {
    const variables = {
      ...exporter,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-traces=1',
      OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '0',
      OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'none',
    }
    const settings = settingsOf(variables)
    expect(settings.per_signal).toMatchObject({
      traces: printed('https://traces.example.com/in'),
      logs: { timeout: 600 },
      metrics: { compression: 'none' },
    })
    expect(opened(settings.per_signal.traces?.headers)).toEqual({ 'x-traces': '1' })

    const own = settingsOf(
      variables,
      '{endpoint: http://mine:4318, timeout: 3, per_signal: {metrics: {compression: gzip}}}',
    )
    expect(own).toMatchObject({ ...printed('http://mine:4318'), timeout: 3, protocol: 'http/json' })
    expect(own.per_signal).toMatchObject({ metrics: { compression: 'gzip' } })
    expect([own.per_signal.traces?.endpoint, own.per_signal.logs]).toEqual([undefined, undefined])
    expect(opened(own.per_signal.traces?.headers)).toEqual({ 'x-traces': '1' })
  })

  it.each<[Variables, string, Variables]>([
    [
      { OTEL_SERVICE_NAME: 'gate', OTEL_RESOURCE_ATTRIBUTES: 'service.name=other' },
      'gate',
      { 'service.name': 'other' },
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=a%20b' },
      'other',
      { 'service.name': 'other', 'deployment.environment.name': 'a b' },
    ],
    [{ OTEL_SERVICE_NAME: '' }, 'model-gateway', {}],
  ])('name the resource: %j', (variables, name, attributes) => {
    const { service_name, resource_attributes } = settingsOf(variables)
    expect([service_name, resource_attributes]).toEqual([name, attributes])
  })

  it.each<[Variables, number, boolean]>([
    [{}, 1, true],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, 1, false],
    [{ OTEL_TRACES_SAMPLER: 'always_off', OTEL_TRACES_SAMPLER_ARG: '0.5' }, 0, false],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: ' 0.25 ' }, 0.25, false],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, 1, false],
    [{ OTEL_TRACES_SAMPLER: 'PARENTBASED_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' }, 0.1, true],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, 0, true],
    [{ OTEL_TRACES_SAMPLER_ARG: '0.1' }, 1, true],
  ])('choose the sampler: %j', (variables, sampling, parentBased) => {
    const settings = settingsOf(variables)
    expect([settings.sampling, settings.parent_based]).toEqual([sampling, parentBased])
    const own = settingsOf(variables, '{sampling: 0.75}')
    expect([own.sampling, own.parent_based]).toEqual([0.75, true])
  })

  it.each<[Variables, readonly string[]]>([
    [{ OTEL_METRICS_EXPORTER: 'none' }, ['traces', 'logs']],
    [
      { OTEL_TRACES_EXPORTER: 'console, otlp', OTEL_METRICS_EXPORTER: 'prometheus', OTEL_LOGS_EXPORTER: '' },
      ['traces', 'logs'],
    ],
    [{ OTEL_SDK_DISABLED: 'TRUE' }, []],
    [{ OTEL_SDK_DISABLED: '1' }, ['traces', 'metrics', 'logs']],
  ])('choose the signals: %j', (variables, signals) => {
    expect(settingsOf(variables).signals).toEqual(signals)
    const own = settingsOf(variables, '{signals: [logs]}').signals
    expect(own).toEqual(signals.length === 0 ? [] : ['logs'])
  })

  const at = 'gateway_settings.callback_settings.otel'
  it.each<[Variables, string]>([
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      `${at}.protocol: must be one of http/protobuf, http/json (it comes from the environment variable OTEL_EXPORTER_OTLP_PROTOCOL)`,
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'canary' },
      `${at}.headers: must be a map of keys to values (it comes from the environment variable OTEL_EXPORTER_OTLP_HEADERS)`,
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'canary name=1' },
      `${at}.headers["canary name"]: is not a header name (it comes from the environment variable OTEL_EXPORTER_OTLP_HEADERS)`,
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'a=%E0%A4%A' },
      `${at}.resource_attributes: must be a map of keys to values (it comes from the environment variable OTEL_RESOURCE_ATTRIBUTES)`,
    ],
    [
      { OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '-5' },
      `${at}.per_signal.logs.timeout: must be greater than 0 (it comes from the environment variable OTEL_EXPORTER_OTLP_LOGS_TIMEOUT)`,
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://example.com/v1/traces' },
      `${at}.per_signal.traces.endpoint: must begin with https://; http:// is for loopback and private hosts (it comes from the environment variable OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)`,
    ],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      `${at}.sampling: must be at most 1 (it comes from the environment variable OTEL_TRACES_SAMPLER_ARG)`,
    ],
    [
      { OTEL_TRACES_SAMPLER: 'constructor' },
      `${at}.sampling: the environment variable OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio; this setting wins over it`,
    ],
  ])('stop the start where they cannot be used: %j', (variables, mistake) => {
    expect(mistakesOf(variables)).toEqual([mistake])
  })

  it.each([
    ['{per_signal: all}', `${at}.per_signal: must be a map of keys to values`],
    ['{per_signal: {traces: [1]}}', `${at}.per_signal.traces: must be a map of keys to values`],
    ['otel', `${at}: must be a map of keys to values`],
  ])('hide no mistake of the file: %s', (own, mistake) => {
    expect(mistakesOf({ ...exporter, OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-traces=1' }, own)).toEqual([mistake])
  })
})
