import type { ComponentChildren } from 'preact'
import { State, type Tone } from '../../design/badge.tsx'
import { duration, money } from '../../design/format.ts'
import { errorWords, resultOf, type Story } from './call.ts'

interface Bar {
  readonly startedMs: number
  readonly totalMs: number
  readonly firstTokenMs?: number | null
  readonly tone: Tone
}

/** What a call consisted of, on one axis of time: attempts, which overlap where they were hedged, and calls of tools. */
export function Waterfall({ story }: { readonly story: Story }) {
  const { call, attempts, tool_calls, attempts_left_out, tool_calls_left_out } = story
  const end = Math.max(
    1,
    call.total_ms,
    ...attempts.map(({ started_ms, total_ms }) => started_ms + total_ms),
    ...tool_calls.map(({ started_ms, total_ms }) => (started_ms ?? 0) + total_ms),
  )
  const steps = [
    ...attempts.map((attempt) => ({ at: attempt.started_ms, attempt, tool: undefined })),
    ...tool_calls.map((tool) => ({ at: tool.started_ms ?? 0, attempt: undefined, tool })),
  ].toSorted((one, other) => one.at - other.at)
  const leftOut = attempts_left_out + tool_calls_left_out
  if (steps.length === 0) return null
  return (
    <>
      <ol class="waterfall">
        {steps.map(({ attempt, tool }, at) =>
          attempt ? (
            <Step
              key={at}
              end={end}
              bar={{
                startedMs: attempt.started_ms,
                totalMs: attempt.total_ms,
                firstTokenMs: attempt.first_token_ms,
                tone: resultOf(attempt).tone,
              }}
              name={attempt.deployment}
              result={<State tone={resultOf(attempt).tone}>{resultOf(attempt).words}</State>}
            >
              {attempt.result === 'failed' && (
                <p class="small">
                  {[attempt.upstream_status, errorWords(attempt.error)].filter(Boolean).join(' ')}
                  {(attempt.upstream_message ?? attempt.message) && (
                    <>: “{attempt.upstream_message ?? attempt.message}”</>
                  )}
                </p>
              )}
              <p class="quiet small">
                {[
                  attempt.provider,
                  attempt.group !== call.requested_model && `group ${attempt.group}`,
                  attempt.turn > 1 && `turn ${attempt.turn}`,
                  attempt.started_ms > 0 && `from ${duration(attempt.started_ms)}`,
                  attempt.first_token_ms !== null && `first token after ${duration(attempt.first_token_ms)}`,
                  attempt.cost !== null && money(attempt.cost),
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </p>
            </Step>
          ) : (
            <Step
              key={at}
              end={end}
              bar={{
                startedMs: tool.started_ms ?? 0,
                totalMs: tool.total_ms,
                tone: tool.result === 'ok' ? 'info' : 'bad',
              }}
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

function Step({
  name,
  result,
  bar,
  end,
  children,
}: {
  readonly name: string
  readonly result: ComponentChildren
  readonly bar: Bar
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
        <span class="number">{duration(bar.totalMs)}</span>
      </p>
      <svg class={`bar ${bar.tone}`} width="100%" height="10" aria-hidden="true">
        <rect class="track" width="100%" height="10" rx="2" />
        <rect
          class="span"
          x={percent(bar.startedMs)}
          width={percent(Math.max(bar.totalMs, end / 200))}
          height="10"
          rx="2"
        />
        {bar.firstTokenMs != null && (
          <rect class="tick" x={percent(bar.startedMs + bar.firstTokenMs)} width="2" height="10" />
        )}
      </svg>
      {children}
    </li>
  )
}
