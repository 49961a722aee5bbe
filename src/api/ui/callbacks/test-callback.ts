import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { SinkFailure } from '../../../telemetry/sinks/sink.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'

export const testCallback = defineRoute(
  {
    method: 'post',
    path: '/ui/api/callbacks/{name}/test',
    summary: 'Sends one test event to a sink at once and reports the answer.',
    tag: 'Configuration',
    auth: 'admin',
    permission: 'config.update',
    action: 'callback.test',
    params: () => z.object({ name: z.string() }),
    responses: {
      200: {
        description: 'What came back.',
        schema: () =>
          z.object({
            name: z.string(),
            delivered: z.boolean(),
            answer: z.string(),
            milliseconds: z.int(),
          }),
      },
    },
  },
  async (scope) => {
    const { name } = scope.input.params
    const begunAt = performance.now()
    const result = (delivered: boolean, answer: string) =>
      json({ name, delivered, answer, milliseconds: Math.round(performance.now() - begunAt) })
    const testing = scope.services.sinks.test(name)
    if (!testing) throw new GatewayError('not_found', `No sink of the name '${name}' is switched on.`)
    try {
      const { again = [], refused = 0, answer } = await testing
      return result(again.length + refused === 0, answer)
    } catch (error) {
      if (error instanceof SinkFailure) return result(false, error.message)
      throw error
    }
  },
)
