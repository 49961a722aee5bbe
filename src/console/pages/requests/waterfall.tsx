import type { ComponentChildren } from 'preact'
import { State, type Tone } from '../../design/badge.tsx'
import { duration, money } from '../../design/format.ts'
import { type Attempt, errorWords, resultOf, type Story } from './call.ts'

/** A stretch of a bar, in milliseconds from the arrival of the call. */
interface Span {
  readonly from: number
  readonly to: number
  readonly tone: Tone
}

/** Shorter pauses are the work of the gateway between two attempts. */
const PAUSE_MS = 20

/** What a call consisted of, on one axis of time: what its client saw, the gateway, attempts, which overlap where they were
 *  hedged, pauses, and calls of tools. */
export function Waterfall({ story }: { readonly story: Story }) {
  const { call, attempts, tool_calls, attempts_left_out, tool_calls_left_out } = story
  const end = Math.max(
    1,
    call.total_ms,
    ...attempts.map(({ started_ms, total_ms }) => started_ms + total_ms),
    ...tool_calls.map(({ started_ms, total_ms }) => (started_ms ?? 0) + total_ms),
  )
  const steps = [
    ...attempts.map((attempt, at) => ({
      at: attempt.started_ms,
      attempt,
      before: attempts.slice(0, at),
      tool: undefined,
    })),
    ...tool_calls.map((tool) => ({ at: tool.started_ms ?? 0, attempt: undefined, before: [], tool })),
  ].toSorted((one, other) => one.at - other.at)
  const leftOut = attempts_left_out + tool_calls_left_out
  if (steps.length === 0) return null
  const first = attempts[0]
  return (
    <>
      <ol class="waterfall">
        <Step
          end={end}
          spans={seenBy(story)}
          name="What the client saw"
          total={call.total_ms}
          result={
            <span class="quiet">
              {call.first_token_ms === null ? 'no answer began' : `first token ${duration(call.first_token_ms)}`}
            </span>
          }
        />
        {first && first.started_ms > 0 && (
          <Step
            end={end}
            spans={[{ from: 0, to: first.started_ms, tone: 'quiet' }]}
            name="Gateway, before the first try"
            total={first.started_ms}
          />
        )}
        {steps.map(({ attempt, before, tool }, at) =>
          attempt ? (
            <Tried key={at} attempt={attempt} before={before} end={end} asked={call.requested_model} />
          ) : (
            <Step
              key={at}
              end={end}
              spans={[
                {
                  from: tool.started_ms ?? 0,
                  to: (tool.started_ms ?? 0) + tool.total_ms,
                  tone: tool.result === 'ok' ? 'info' : 'bad',
                },
              ]}
              total={tool.total_ms}
              name={`${tool.server} · ${tool.tool}`}
              result={<State tone={tool.result === 'ok' ? 'quiet' : 'bad'}>{`tool ${tool.result}`}</State>}
            />
          ),
        )}
      </ol>
      <p class="axis quiet small">
        <span>0</span>
        <span>{duration(end)}</span>
      </p>
      {leftOut > 0 && <p class="quiet small">{leftOut} more are not kept.</p>}
    </>
  )
}

/** The wait, and the answer: of another colour where another deployment went on with it. */
function seenBy({ call, attempts }: Story): readonly Span[] {
  const told = attempts.filter(
    ({ result, first_token_ms: first }) => first !== null && (result === 'cut' || result === 'answered'),
  )
  const begun = (one: Attempt) => one.started_ms + (one.first_token_ms ?? 0)
  const start = told[0] ? begun(told[0]) : call.total_ms
  return [
    { from: 0, to: start, tone: 'quiet' },
    ...told.map((one, at): Span => {
      const next = told[at + 1]
      return {
        from: at === 0 ? start : begun(one),
        to: next ? begun(next) : Math.max(begun(one), call.total_ms),
        tone: at % 2 === 0 ? 'ok' : 'info',
      }
    }),
  ]
}

function Tried({
  attempt,
  before,
  end,
  asked,
}: {
  readonly attempt: Attempt
  /** The attempts before it. */
  readonly before: readonly Attempt[]
  readonly end: number
  readonly asked: string
}) {
  const { started_ms: started, turn, group } = attempt
  const last = before.at(-1)
  const ended = Math.max(0, ...before.map((one) => one.started_ms + one.total_ms))
  const isFallback = last !== undefined && last.group !== group && last.turn === turn
  const pause = last && last.turn === turn ? started - ended : 0
  const isHedge = last !== undefined && started < ended && last.turn === turn
  const continues = last?.result === 'cut' && last.turn === turn
  const { tone, words } = resultOf(attempt)
  return (
    <>
      {(isFallback || pause >= PAUSE_MS) && (
        <li class="between quiet small">
          {[
            pause >= PAUSE_MS && `waited ${duration(pause)}`,
            isFallback && `then went over to ${group}, the fallback of ${last.group}`,
          ]
            .filter(Boolean)
            .join(', ')}
        </li>
      )}
      <Step
        end={end}
        spans={[{ from: started, to: started + attempt.total_ms, tone }]}
        tick={attempt.first_token_ms === null ? undefined : started + attempt.first_token_ms}
        name={attempt.deployment}
        total={attempt.total_ms}
        result={<State tone={tone}>{words}</State>}
      >
        {attempt.result === 'failed' && (
          <p class="small">
            {[attempt.upstream_status, errorWords(attempt.error)].filter(Boolean).join(' ')}
            {(attempt.upstream_message ?? attempt.message) && <>: “{attempt.upstream_message ?? attempt.message}”</>}
          </p>
        )}
        <p class="quiet small">
          {[
            attempt.provider,
            group !== asked && !isFallback && `group ${group}`,
            turn > 1 && `turn ${turn}`,
            isHedge && 'beside the one before, as a hedge',
            continues && 'goes on with the answer',
            started > 0 && `from ${duration(started)}`,
            attempt.first_token_ms !== null && `first token after ${duration(attempt.first_token_ms)}`,
            attempt.cost !== null && money(attempt.cost),
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </Step>
    </>
  )
}

function Step({
  name,
  result,
  total,
  spans,
  tick,
  end,
  children,
}: {
  readonly name: string
  readonly result?: ComponentChildren
  readonly total: number
  readonly spans: readonly Span[]
  /** When the first token came. */
  readonly tick?: number | undefined
  readonly end: number
  readonly children?: ComponentChildren
}) {
  const percent = (ms: number) => `${Math.min(100, (100 * ms) / end).toFixed(2)}%`
  return (
    <li>
      <p class="row">
        <span class="cut grow" title={name}>
          {name}
        </span>
        {result}
        <span class="number">{duration(total)}</span>
      </p>
      <svg width="100%" height="10" aria-hidden="true">
        <rect class="track" width="100%" height="10" rx="2" />
        {spans.map(({ from, to, tone }) => (
          <rect
            key={from}
            class={`span ${tone}`}
            x={percent(from)}
            width={percent(Math.max(to - from, end / 200))}
            height="10"
            rx="2"
          />
        ))}
        {tick !== undefined && <rect class="tick" x={percent(tick)} width="2" height="10" />}
      </svg>
      {children}
    </li>
  )
}
