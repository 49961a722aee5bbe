import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { secret } from '../../lib/secret.ts'
import {
  baseAddress,
  checked,
  flag,
  headers,
  keyed,
  keyedUrl,
  positiveSeconds,
  secretText,
  section,
  text,
} from '../fields.ts'

/** The events that a webhook may be told of. */
export const WEBHOOK_EVENTS = [
  'call.finished',
  'budget.soft_limit',
  'budget.exceeded',
  'deployment.cooled',
  'batch.finished',
  'key.expiring',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** What metrics may tell of a call. */
export const CALL_LABELS = [
  'model',
  'provider',
  'deployment',
  'endpoint',
  'team',
  'organization',
  'user',
  'key_id',
] as const
export const DEFAULT_CALL_LABELS = ['model', 'provider', 'team', 'key_id'] as const

const OTEL_SIGNALS = ['traces', 'metrics', 'logs'] as const
/** The longest time that may be set for the answer to a batch. */
const LONGEST_EXPORT_SECONDS = 600

const protocol = () => z.enum(['http/protobuf', 'http/json'])
const compression = () => z.enum(['none', 'gzip'])
const exportSeconds = () => positiveSeconds().max(LONGEST_EXPORT_SECONDS)

/** What one signal may have otherwise than the others. */
const ofSignal = () =>
  section({
    endpoint: keyedUrl().optional().describe('The whole address of the signal, with its path.'),
    headers: headers().optional().describe('Headers of its exports, instead of those of all.'),
    protocol: protocol().optional().describe('How its exports are written.'),
    compression: compression().optional().describe('How its exports are compressed.'),
    timeout: exportSeconds().optional().describe('Seconds that one of its exports may take.'),
  })

const otel = lazily(() =>
  section({
    endpoint: baseAddress()
      .prefault('http://localhost:4318')
      .transform(keyed)
      .describe('The OTLP/HTTP address of the collector, without /v1/traces.'),
    headers: headers().default({}).describe('Headers of each export.'),
    service_name: text().default('model-gateway').describe('The service.name of the exports.'),
    resource_attributes: z
      .record(text(), z.string())
      .default({})
      .describe('Further attributes of the resource, such as deployment.environment.name.'),
    protocol: protocol().default('http/protobuf').describe('How exports are written.'),
    compression: compression().default('none').describe('How exports are compressed.'),
    timeout: exportSeconds().default(10).describe('Seconds that an export may take.'),
    signals: z
      .array(z.enum(OTEL_SIGNALS))
      .default([...OTEL_SIGNALS])
      .describe('What is exported of each call: a span, measurements, a log record.'),
    per_signal: z
      .partialRecord(z.enum(OTEL_SIGNALS), ofSignal())
      .default({})
      .describe('Settings of single signals: endpoint (the whole address), headers, protocol, compression, timeout.'),
    sampling: z.number().min(0).max(1).default(1).describe('The share of traces that are sent.'),
    parent_based: flag()
      .default(true)
      .describe("A client's traceparent decides for its own traces, instead of sampling."),
  }),
)

/** The settings of a collector of which the file says nothing. */
export const otelDefaults = lazily(() => otel().parse({}))

/** Settings of the sinks that `success_callback` may switch on, which are the names of this section. */
export const callbackSettings = lazily(() =>
  section({
    prometheus: section({
      labels: z
        .array(z.enum(CALL_LABELS))
        .default([...DEFAULT_CALL_LABELS])
        .describe('The labels of counts of calls. Of these, latencies have only model and provider.'),
    })
      .optional()
      .describe('The metrics at /metrics, which are there without it too.'),
    langfuse: section({
      host: baseAddress().default('https://cloud.langfuse.com').describe('The address of the tracing service.'),
      public_key: text().optional().describe('Its public key.'),
      secret_key: secretText().optional().describe('Its secret key.'),
      project_id: text().optional().describe('Its project, by which answers about calls link to their traces.'),
    })
      .optional()
      .describe('The tracing service langfuse.'),
    otel: otel().optional().describe('OpenTelemetry over HTTP.'),
    opentelemetry: otel().optional().describe('Another name for otel.'),
    s3: section({
      bucket: text().optional().describe('The bucket for log objects.'),
      region: text().default('us-east-1').describe("The bucket's region."),
      prefix: text().optional().describe('The prefix of the names of objects.'),
      endpoint: baseAddress().optional().describe('The address of the object storage, if it is not AWS.'),
      access_key_id: text()
        .optional()
        .describe('The id of the access key; without it Workers write to the bucket that is bound as LOGS.'),
      secret_access_key: secretText().optional().describe('The secret of the access key.'),
      session_token: secretText().optional().describe('The token that goes with a temporary access key.'),
      compression: z.enum(['none', 'gzip', 'zstd']).default('gzip').describe('How objects are compressed.'),
    })
      .optional()
      .describe('Object storage.'),
    webhook: section({
      url: keyedUrl().optional().describe('The address that events are posted to.'),
      secret: checked(mistakeInWebhookSecret)
        .transform(secret)
        .optional()
        .describe('Signs each event: whsec_ and 24 to 64 random bytes in base64.'),
      events: z
        .array(z.enum(WEBHOOK_EVENTS))
        .min(1)
        .default([...WEBHOOK_EVENTS])
        .describe('The events that are posted.'),
      headers: headers().default({}).describe('Further headers of each request.'),
    })
      .optional()
      .describe('Signed posts of single events (Standard Webhooks).'),
  }),
)

export type CallbackSettings = z.output<ReturnType<typeof callbackSettings>>
export type CallbackName = keyof CallbackSettings

/** The required settings of each callback. */
export const CALLBACK_NEEDS: Readonly<Partial<Record<CallbackName, readonly string[]>>> = {
  langfuse: ['public_key', 'secret_key'],
  s3: ['bucket'],
  webhook: ['url', 'secret'],
}

function mistakeInWebhookSecret(text: string): string | undefined {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
  return base64.replace(/=+$/, '').length % 4 !== 1 && bytes >= 24 && bytes <= 64
    ? undefined
    : 'must be whsec_ and 24 to 64 random bytes in base64: echo "whsec_$(openssl rand -base64 32)"'
}
