import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { json, text } from '../respond.ts'
import { defineRoute } from '../route.ts'
import { readiness } from './readiness.ts'

const report = lazily(() =>
  z.object({
    status: z.enum(['ok', 'unavailable']),
    checks: z.object({ redis: z.boolean(), database: z.boolean() }),
  }),
)

export const health = defineRoute(
  {
    method: 'get',
    path: '/health',
    summary: 'Liveliness and readiness in one report.',
    tag: 'Health',
    auth: 'public',
    responses: {
      200: { description: 'The report.', schema: () => z.object({ liveliness: z.literal('ok'), readiness: report() }) },
    },
  },
  async ({ services }) => json({ liveliness: 'ok', readiness: await readiness(services) }),
)

export const healthLiveliness = defineRoute(
  {
    method: 'get',
    path: '/health/liveliness',
    summary: 'Answers while the process is alive.',
    tag: 'Health',
    auth: 'public',
    responses: { 200: { description: 'Alive.', contentType: 'text/plain' } },
  },
  () => text('ok', 'text/plain; charset=utf-8'),
)

export const healthReadiness = defineRoute(
  {
    method: 'get',
    path: '/health/readiness',
    summary: 'Checks the shared store and the database.',
    tag: 'Health',
    auth: 'public',
    responses: {
      200: { description: 'Ready for calls.', schema: report },
      503: { description: 'A dependency is away, or the process is stopping.', schema: report },
    },
  },
  async ({ services }) => {
    const answer = await readiness(services)
    return json(answer, answer.status === 'ok' ? 200 : 503)
  },
)
