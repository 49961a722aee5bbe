import { useEffect, useState } from 'preact/hooks'
import type { Input } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { State } from '../badge.tsx'
import { ButtonLink } from '../button.tsx'
import { count, duration, money } from '../format.ts'

const ASK_SECONDS = 2

/** Waits for a first call, and shows it when it has arrived. */
export function AwaitedCall({ query }: { readonly query: NonNullable<Input<'GET /ui/api/logs'>['query']> }) {
  const [from] = useState(() => new Date(Date.now() - 1000).toISOString())
  const [isThere, setThere] = useState(false)
  const [asks, setAsks] = useState(false)
  // What the page itself shows is asked for first.
  useEffect(() => {
    const timer = setTimeout(() => setAsks(true), ASK_SECONDS * 1000)
    return () => clearTimeout(timer)
  }, [])
  const read = useApi(
    'GET /ui/api/logs',
    { query: { ...query, from, limit: 1 } },
    { enabled: asks, live: isThere ? undefined : ASK_SECONDS },
  )
  const call = read.data?.data[0]
  if (call && !isThere) setThere(true)
  return (
    <div class="row" role="status">
      {call ? (
        <>
          <State tone={call.ending === 'answered' ? 'ok' : 'bad'}>
            {call.ending === 'answered' ? 'Answered' : `Failed ${call.status}`}
          </State>
          <span class="grow">
            {call.requested_model}, {duration(call.total_ms)}, {count(call.input_tokens)} → {count(call.output_tokens)}{' '}
            tokens, {money(call.cost)}
          </span>
          <ButtonLink small href={`/console/requests/${encodeURIComponent(call.call_id)}`}>
            Its story
          </ButtonLink>
        </>
      ) : (
        <span class="waits">Waiting for the call…</span>
      )}
    </div>
  )
}
