import { pathTo } from '../../data/params.ts'
import { changeOf, type Totals } from '../../data/sums.ts'
import { count, duration, money } from '../../design/format.ts'
import { Tile } from '../../design/page.tsx'
import { percentile, share } from '../../design/rounded.ts'

/** What was spent, called and failed, and how long it took, with what it was in the time before. */
export function Tiles({
  total,
  previous,
  range,
  mine,
}: {
  readonly total: Totals
  readonly previous: Totals
  readonly range: Readonly<Record<string, string>>
  readonly mine: boolean
}) {
  const named = (label: string) => (mine ? `My ${label.toLowerCase()}` : label)
  const before = (now: number | null, was: number | null, format: (value: number) => string) =>
    previous.calls === 0 || was === null
      ? 'no calls in the time before'
      : `${now !== null && was > 0 ? `${changeOf(now, was)}, ` : ''}${format(was)} in the time before`
  const failed = (sums: Totals) => (sums.calls === 0 ? null : sums.failed_calls / sums.calls)
  const { p95_ms: p95, first_token_p95_ms: first } = total
  return (
    <div class="tiles">
      <Tile
        label={named('Spend')}
        href={pathTo('usage', range)}
        value={money(total.spend)}
        note={
          <Lines
            of={[
              before(total.spend, previous.spend, money),
              total.saved > 0 && `${money(total.saved)} saved by the cache`,
              total.unpriced_calls > 0 && `${count(total.unpriced_calls)} calls have no price`,
            ]}
          />
        }
      />
      <Tile
        label={named('Calls')}
        href={pathTo('requests', range)}
        value={count(total.calls)}
        note={before(total.calls, previous.calls, count)}
      />
      <Tile
        label={named('Failed')}
        href={pathTo('requests', { ...range, ending: 'failed' })}
        value={total.calls === 0 ? '–' : share(total.failed_calls, total.calls)}
        note={
          <Lines
            of={[
              `${count(total.failed_calls)} of ${count(total.calls)} calls`,
              before(null, failed(previous), (part) => share(part, 1)),
            ]}
          />
        }
      />
      <Tile
        label={named('Average time')}
        href={pathTo('usage', { ...range, metric: 'average_ms' })}
        value={duration(total.average_ms)}
        note={
          <Lines
            of={[
              p95 !== null && `95 % within ${bound(p95)}`,
              first !== null && `first token: 95 % within ${bound(first)}`,
              before(total.average_ms, previous.average_ms, duration),
            ]}
          />
        }
      />
    </div>
  )
}

/** `95 % end within 50 ms` says already that it may be less. */
const bound = (ms: number): string => percentile(ms).replace('≤ ', '')

const Lines = ({ of }: { readonly of: ReadonlyArray<string | false> }) => (
  <>
    {of.filter(Boolean).map((line) => (
      <div key={line}>{line}</div>
    ))}
  </>
)
