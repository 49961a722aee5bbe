import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from '../../data/client.ts'
import { State } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { count, duration, money } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { MODE_WORDS } from './deployment.ts'

export type Trial = Answer<'POST /ui/api/models/test'>

/** One small call of the draft as it stands, through the gateway, before it is saved. */
export function TrialBlock({
  trial,
  isOld,
  busy,
  onTest,
}: {
  readonly trial: Trial | undefined
  /** The draft was changed since. */
  readonly isOld: boolean
  readonly busy: boolean
  readonly onTest: () => void
}) {
  const result = useRef<HTMLDivElement>(null)
  // Whoever tests from a field further up sees what came of it.
  useEffect(() => {
    if (trial && !busy) result.current?.scrollIntoView({ block: 'nearest' })
  }, [trial, busy])
  return (
    <Section
      title="Test"
      actions={
        <Button busy={busy} onClick={onTest} aria-keyshortcuts="Control+Enter Meta+Enter">
          Test the draft
        </Button>
      }
    >
      <p class="quiet">
        Asks the provider one small question with these settings, as a call would. Nothing is saved. Enter in a field
        does the same, and saves the deployment if it was answered.
      </p>
      <div class="stack" role="status" aria-live="polite" ref={result}>
        {trial && !busy && <Result trial={trial} isOld={isOld} />}
      </div>
    </Section>
  )
}

function Result({ trial, isOld }: { readonly trial: Trial; readonly isOld: boolean }) {
  const { ok, mode, streamed, address, status, first_token_ms, total_ms, model, usage, cost, failure } = trial
  return (
    <div class="card stack">
      <div class="row">
        <State tone={ok ? 'ok' : 'bad'}>{ok ? `Answered in ${duration(total_ms)}` : 'No answer'}</State>
        {isOld && <span class="quiet">The draft was changed since.</span>}
      </div>
      {failure && (
        <>
          <Notice tone="bad">
            {failure.message} <span class="mono">{failure.code}</span>
          </Notice>
          {failure.words && <Code text={failure.words} wrap label="The provider's words" />}
          <p>{failure.advice}</p>
        </>
      )}
      <Facts
        of={[
          ['Reached', address ? <span class="mono">{address}</span> : 'nothing was sent'],
          ['Status', status ?? (ok ? undefined : 'none')],
          ['Kind', `${MODE_WORDS[mode]}${streamed ? ', streamed' : ''}`],
          ['First token', first_token_ms === null ? undefined : duration(first_token_ms)],
          ['Total', duration(total_ms)],
          ['Model, as the provider names it', model === null ? undefined : <span class="mono">{model}</span>],
          ['Usage', ok ? usageWords(usage) : undefined],
          ['Price of this call', ok ? money(cost) : undefined],
        ]}
      />
    </div>
  )
}

function usageWords(usage: Trial['usage']): string {
  if (!usage) return 'not reported: it will be estimated'
  const { input_tokens, output_tokens, images, audio_seconds, characters, rerank_units } = usage
  const parts = [
    (input_tokens || output_tokens) > 0 && `${count(input_tokens)} → ${count(output_tokens)} tokens`,
    images > 0 && `${count(images)} images`,
    audio_seconds > 0 && `${count(audio_seconds)} s of audio`,
    characters > 0 && `${count(characters)} characters`,
    rerank_units > 0 && `${count(rerank_units)} rerank units`,
  ]
  return parts.filter(Boolean).join(', ') || 'nothing'
}
