import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { CopyButton } from '../../design/button.tsx'
import { count, duration, money } from '../../design/format.ts'
import type { Told } from './call.ts'

const ASK_SECONDS = 0.7
/** A call that the ledger has not by then is told by its headers alone. */
const GIVE_UP_MS = 8000

/** How a call went, in one line: at once what its headers say, then what the ledger says. */
export function Story({ told }: { readonly told: Told }) {
  const { requestId, explain } = told
  const { pages } = useSession()
  const [waits, setWaits] = useState(true)
  const query = { request_id: requestId, limit: 1 }
  const read = useApi(
    'GET /ui/api/logs',
    { query },
    { enabled: requestId !== undefined, live: waits ? ASK_SECONDS : undefined },
  )
  const call = read.data?.data.find(({ request_id: id }) => id === requestId)
  useEffect(() => {
    if (call) setWaits(false)
    const timer = setTimeout(() => setWaits(false), GIVE_UP_MS)
    return () => clearTimeout(timer)
  }, [call !== undefined])

  const attempts = call?.attempts ?? Number(told.attempts ?? 0)
  const parts: ComponentChildren[] = [
    call?.deployment ?? told.deployment,
    attempts > 1 && <span class="play-tries">{attempts} tries</span>,
    call?.failed_over && 'failed over',
    call?.cache === 'hit' && 'from the cache',
    call && `${duration(call.total_ms)}`,
    call && call.first_token_ms !== null && `first token ${duration(call.first_token_ms)}`,
    overhead(call?.overhead_ms ?? told.overheadMs),
    ...(call ? usageOf(call) : []),
    call && money(call.cost),
  ]
  return (
    <footer class="play-story quiet small">
      <ul aria-label="How the call went">
        {parts.filter(Boolean).map((part, index) => (
          <li key={index}>{part}</li>
        ))}
        {call && pages.includes('requests') && (
          <li>
            <a href={pathTo('requests', { open: call.call_id })}>Story</a>
          </li>
        )}
        {requestId && (
          <li>
            <CopyButton text={requestId} label={`Copy the request id ${requestId}`} />
          </li>
        )}
      </ul>
      {explain && <Explained text={explain} />}
    </footer>
  )
}

const overhead = (ms: number | undefined) =>
  ms !== undefined && `gateway ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`

interface Used {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly images: number
  readonly audio_seconds: number
  readonly characters: number
  readonly rerank_units: number
}

function usageOf(call: Used): string[] {
  const { input_tokens: input, output_tokens: output, images, audio_seconds: seconds, characters } = call
  const told: ReadonlyArray<readonly [number, string]> = [
    [input + output, `${count(input)} → ${count(output)} tokens`],
    [images, `${count(images)} images`],
    [seconds, `${count(seconds)} s of audio`],
    [characters, `${count(characters)} characters`],
    [call.rerank_units, `${count(call.rerank_units)} rerank units`],
  ]
  return told.flatMap(([amount, words]) => (amount > 0 ? [words] : []))
}

/** `claude-1;taken, claude-2;cooling` as a list. */
function Explained({ text }: { readonly text: string }) {
  return (
    <ul aria-label="Why this deployment">
      {text.split(', ').map((item) => {
        const [id, ...why] = item.split(';')
        return (
          <li key={item}>
            <b>{id}</b> {why.join(', ').replaceAll('_', ' ')}
          </li>
        )
      })}
    </ul>
  )
}
