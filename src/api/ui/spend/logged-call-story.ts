import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { dollarsOf } from '../../../lib/money.ts'
import type { Registry } from '../../../routing/registry.ts'
import type { AttemptDetail, ToolCallDetail } from '../../../stores/sql/spend/call-detail.ts'
import type { DetailedCall } from '../../../stores/sql/spend/spend-log.ts'
import type { Sinks } from '../../../telemetry/sinks/sinks.ts'
import { json } from '../../respond.ts'
import { defineRoute } from '../../route.ts'
import { storable } from '../../storable.ts'
import { loggedCall, loggedCallAnswer } from './logged-call.ts'
import { callPrice, priceOfCall } from './price-of-call.ts'
import { spendReach } from './spend-query.ts'

const ms = () => z.number()

const attempt = lazily(() =>
  z.object({
    deployment: z.string(),
    provider: z.string(),
    group: z.string().describe('The group that it belongs to: the one that was asked for or a fallback.'),
    turn: z.int().describe('The turn of a call with managed tools; 1 in every other call.'),
    result: z
      .enum(['answered', 'failed', 'cut', 'lost_hedge', 'client_closed'])
      .describe('cut: it failed after its answer had begun. lost_hedge: the other attempt of a hedge answered first.'),
    error: z.string().nullable().describe('The kind of failure.'),
    message: z
      .string()
      .nullable()
      .describe('What the client was told of the failure, or would have been; without content of the request.'),
    upstream_status: z.int().nullable().describe("The status of the upstream's answer, if there was one."),
    upstream_message: z
      .string()
      .nullable()
      .describe(
        "The upstream's own words where it refused, or why its connection failed, for callers whose reach is everything.",
      ),
    started_ms: ms().describe('When it began, counted from the arrival of the call.'),
    first_token_ms: ms().nullable().describe('Until its first token or its whole answer, counted from its beginning.'),
    total_ms: ms(),
    cost: z.number().nullable().describe('US dollars; null: unknown.'),
  }),
)

const toolCall = lazily(() =>
  z.object({
    server: z.string(),
    tool: z.string(),
    result: z
      .enum(['ok', 'error', 'timeout', 'failed'])
      .describe('error: the tool itself reported an error. failed: its server could not be asked.'),
    started_ms: ms().nullable().describe('When it began, counted from the arrival of the call.'),
    total_ms: ms(),
  }),
)

const leftOut = (of: string) => z.int().describe(`How many ${of} are left out in the middle: 16 are kept.`)

const story = lazily(() =>
  z.object({
    call: loggedCall(),
    price: callPrice().nullable().describe('How its cost comes about; null where that cannot be said.'),
    held: z
      .number()
      .nullable()
      .describe('US dollars: the most that a budget held for it until it was settled; null: none did.'),
    attempts: z.array(attempt()),
    attempts_left_out: leftOut('attempts'),
    tool_calls: z.array(toolCall()),
    tool_calls_left_out: leftOut('tool calls'),
    links: z
      .array(z.object({ sink: z.string(), url: z.string() }))
      .describe('Where sinks that are switched on have the call, if they can name the place.'),
  }),
)

export const loggedCallStory = defineRoute(
  {
    method: 'get',
    path: '/ui/api/logs/{call_id}',
    summary: 'One model call with its attempts, its tool calls and where sinks have it.',
    tag: 'Spend',
    auth: 'admin',
    permission: 'spend.read',
    scoped: 'own',
    params: () => z.object({ call_id: storable().min(1).max(256) }),
    responses: { 200: { description: 'The call.', schema: story } },
  },
  async ({ services, caller, input }) => {
    const reach = spendReach(caller(), undefined)
    const call = await services.spendLog.find(reach, input.params.call_id)
    if (!call) throw new GatewayError('not_found', 'There is no such call.', { param: 'call_id' })
    return json(storyOf(call, services, reach === 'everything'))
  },
)

function storyOf(
  call: DetailedCall,
  { sinks, registry }: { readonly sinks: Sinks; readonly registry: Registry },
  seesUpstream: boolean,
): z.output<ReturnType<typeof story>> {
  const { detail } = call
  const attempts = detail?.attempts.length ? detail.attempts : ownAttempt(call)
  return {
    call: loggedCallAnswer(call) as z.output<ReturnType<typeof loggedCall>>,
    price: priceOfCall(call, attempts, registry),
    held: detail?.held_nano === undefined ? null : dollarsOf(detail.held_nano),
    attempts: attempts.map((one) => attemptAnswer(one, seesUpstream)),
    // Earlier builds stored the number of attempts alone.
    attempts_left_out: Math.max(0, Number(call.attempts) - attempts.length),
    tool_calls: detail?.tool_calls.map(toolCallAnswer) ?? [],
    tool_calls_left_out: detail?.tool_calls_left_out ?? 0,
    links: linksOf(call, sinks),
  }
}

/** The attempt of a call that had only one: the row of the call holds all of it. */
function ownAttempt(call: DetailedCall): AttemptDetail[] {
  if (Number(call.attempts) !== 1) return []
  const started = Number(call.overhead_ms)
  const result = RESULTS[String(call.ending)] ?? 'failed'
  return [
    {
      deployment: call.deployment,
      provider: call.provider,
      group: call.model,
      turn: 1,
      result,
      error: result === 'answered' ? undefined : call.error_type,
      started_ms: started,
      first_token_ms: call.first_token_ms === null ? undefined : Math.max(0, Number(call.first_token_ms) - started),
      total_ms: call.upstream_ms === null ? Math.max(0, Number(call.total_ms) - started) : Number(call.upstream_ms),
      cost_nano: call.cost_nano === null ? undefined : Number(call.cost_nano),
    },
  ]
}

const RESULTS: Readonly<Record<string, AttemptDetail['result']>> = {
  answered: 'answered',
  truncated: 'cut',
  client_closed: 'client_closed',
}

function attemptAnswer(one: AttemptDetail, seesUpstream: boolean): z.output<ReturnType<typeof attempt>> {
  const { deployment, provider, group, turn, result, started_ms, total_ms } = one
  return {
    deployment,
    provider,
    group,
    turn,
    result,
    error: one.error ?? null,
    message: one.message ?? null,
    upstream_status: one.upstream_status ?? null,
    upstream_message: (seesUpstream ? one.upstream_message : undefined) ?? null,
    started_ms,
    first_token_ms: one.first_token_ms ?? null,
    total_ms,
    cost: one.cost_nano === undefined ? null : dollarsOf(one.cost_nano),
  }
}

function toolCallAnswer(one: ToolCallDetail): z.output<ReturnType<typeof toolCall>> {
  const { server, tool, result, started_ms = null, total_ms } = one
  return { server, tool, result, started_ms, total_ms }
}

function linksOf({ call_id: callId, at, detail }: DetailedCall, { byName }: Sinks): { sink: string; url: string }[] {
  const call = { callId, at, traceId: detail?.trace_id }
  return [...byName].flatMap(([name, { sink }]) => {
    const url = sink.placeOf?.(call)
    return url === undefined ? [] : { sink: name, url }
  })
}
