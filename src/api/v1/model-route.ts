import type * as z from 'zod'
import { GatewayError } from '../../lib/errors.ts'
import type { Mode } from '../../modes/mode.ts'
import { type ErrorEvent, runCall } from '../../pipeline/run-call.ts'
import { defineRoute, type ResponseContract, type Route } from '../route.ts'

/** An endpoint that runs a model: the body's bytes into the pipeline, its answer out. */
export function modelRoute(endpoint: {
  readonly path: string
  readonly summary: string
  readonly mode: Mode
  readonly body: z.ZodType
  readonly responses: Readonly<Record<number, ResponseContract>>
  readonly errorEvent: ErrorEvent
}): Route {
  const { path, summary, mode, body, responses, errorEvent } = endpoint
  return defineRoute(
    { method: 'post', path, summary, tag: 'Models', auth: 'caller', modelCall: true, body, responses },
    async (scope) => {
      const { services, client, requestId, arrivedAt } = scope
      requireJson(scope.contentType)
      const bytes = await client.body(services.config.general_settings.max_json_bytes)
      const call = {
        requestId,
        arrivedAt,
        endpoint: path,
        caller: scope.caller(),
        client,
        mode,
        bytes,
        begun: scope.reportsItself,
      }
      return runCall(services, call, errorEvent)
    },
  )
}

function requireJson(contentType: string | undefined): void {
  if (contentType !== undefined && /^application\/([\w.+-]+\+)?json\b/i.test(contentType)) return
  throw new GatewayError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".')
}
