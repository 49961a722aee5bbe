import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { headers, operatorUrl, secretText, section, text } from '../fields.ts'

export const CALLBACKS = ['prometheus', 'langfuse', 'otel', 'opentelemetry', 's3'] as const
type CallbackName = (typeof CALLBACKS)[number]

const otel = lazily(() =>
  section({
    endpoint: operatorUrl().default('http://localhost:4318').describe('The OTLP/HTTP address of the collector.'),
    headers: headers().default({}).describe('Headers of each export.'),
    service_name: text().default('model-gateway').describe('The service.name of the traces.'),
  }),
)

/** Settings of the sinks that `success_callback` switches on, by name. */
export const callbackSettings = lazily(() =>
  section({
    prometheus: section({}).optional().describe('Nothing to set: metrics are at /metrics.'),
    langfuse: section({
      host: operatorUrl().default('https://cloud.langfuse.com').describe('The address of the tracing service.'),
      public_key: text().optional().describe('Its public key.'),
      secret_key: secretText().optional().describe('Its secret key.'),
    })
      .optional()
      .describe('The tracing service langfuse.'),
    otel: otel().optional().describe('OpenTelemetry traces over HTTP.'),
    opentelemetry: otel().optional().describe('Another name of otel.'),
    s3: section({
      bucket: text().optional().describe('The bucket for log objects.'),
      region: text().default('us-east-1').describe("The bucket's region."),
      prefix: text().optional().describe('The prefix of the names of objects.'),
      endpoint: operatorUrl().optional().describe('The address of the object storage, if it is not AWS.'),
      access_key_id: text().optional().describe('The id of the access key.'),
      secret_access_key: secretText().optional().describe('The secret of the access key.'),
      compression: z.enum(['none', 'gzip']).default('gzip').describe('How objects are compressed.'),
    })
      .optional()
      .describe('Object storage.'),
  }),
)

/** The required settings of each callback. */
export const CALLBACK_NEEDS: Readonly<Partial<Record<CallbackName, readonly string[]>>> = {
  langfuse: ['public_key', 'secret_key'],
  s3: ['bucket'],
}
