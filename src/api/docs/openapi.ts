import * as z from 'zod'
import type { WebhookEvent } from '../../config/sections/callback-settings.ts'
import { webhookPayloads } from '../../telemetry/sinks/webhook-payloads.ts'
import type { ResponseContract, Route, RouteContract } from '../route.ts'
import { VERSION } from '../version.ts'
import { errorSchema } from './error-schema.ts'

const FAILURE = failure('The error, in the usual shape.', { $ref: '#/components/schemas/Error' })

/** The OpenAPI 3.1 document of the routes, written from their contracts. */
export function openapi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const { contract } of routes) {
    paths[contract.path] = { ...paths[contract.path], [contract.method]: operation(contract) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model gateway',
      version: VERSION,
      description: 'One base address and one key in front of language-model providers.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    webhooks: Object.fromEntries(
      Object.entries(webhookPayloads()).map(([event, payload]) => [event, posted(event, payload)]),
    ),
    components: {
      schemas: { Error: errorSchema() },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'The master key or an API key.' },
        session: { type: 'apiKey', in: 'cookie', name: 'gateway_session', description: 'A session of /auth.' },
      },
    },
  }
}

const SECURITY: Readonly<Record<RouteContract['auth'], readonly object[]>> = {
  public: [],
  caller: [{ key: [] }],
  admin: [{ key: [] }, { session: [] }],
  session: [{ session: [] }],
}

function operation(contract: RouteContract): object {
  const { summary, tag, auth, params, query, json, responses, errorBody } = contract
  const body = json ? { schema: json, contentType: 'application/json' } : contract.body
  const failed = errorBody ? failure('The error, as clients of this path expect it.', errorSchema(errorBody)) : FAILURE
  return {
    operationId: operationId(contract),
    summary,
    tags: [tag],
    security: SECURITY[auth],
    parameters: [...parameters('path', params?.()), ...parameters('query', query?.())],
    ...(body ? { requestBody: requestBody(body) } : {}),
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, response(answer)])),
      '4XX': failed,
      default: failed,
    },
  }
}

function failure(description: string, schema: object): object {
  return { description, content: { 'application/json': { schema } } }
}

function requestBody({ schema, contentType }: NonNullable<RouteContract['body']>): object {
  return {
    required: !schema().safeParse(undefined).success,
    content: { [contentType]: { schema: jsonSchema(schema(), 'input') } },
  }
}

function response({ description, schema, contentType }: ResponseContract): object {
  if (!schema && contentType === undefined) return { description }
  const asJson = schema ? { 'application/json': { schema: jsonSchema(schema(), 'output') } } : {}
  const others = [contentType ?? []].flat().map((form) => [form, {}])
  return { description, content: { ...asJson, ...Object.fromEntries(others) } }
}

/** The post of an event to the configured webhook. */
function posted(event: string, { summary, data }: ReturnType<typeof webhookPayloads>[WebhookEvent]): object {
  const schema = z.object({ type: z.literal(event), timestamp: z.iso.datetime(), data })
  return {
    post: {
      operationId: camelCase(`on.${event}`),
      summary,
      tags: ['Webhooks'],
      // The signature is a parameter: OpenAPI has no security scheme for a header that depends on the body.
      security: [],
      parameters: SIGNATURE.map(([name, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(schema, 'output') } } },
      responses: { '2XX': { description: 'The event is taken. Any other answer has it sent again, or refuses it.' } },
    },
  }
}

const SIGNATURE = [
  ['webhook-id', 'The same with each delivery of the event.'],
  ['webhook-timestamp', 'Seconds since 1970, of this delivery.'],
  ['webhook-signature', '`v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>` in base64 (Standard Webhooks).'],
] as const

function operationId({ method, path }: RouteContract): string {
  return camelCase(`${method}${path}`)
}

const camelCase = (text: string) =>
  text.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? '').toUpperCase())

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined): object[] {
  if (!schema) return []
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !(field as z.ZodType).safeParse(undefined).success,
    schema: jsonSchema(field as z.ZodType, 'input'),
  }))
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: written }) => {
      // zod writes JavaScript's bounds of an integer where the field has none.
      if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum
      if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum
    },
  })
  return rest
}
