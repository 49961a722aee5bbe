import { pathTo } from '../../data/params.ts'
import { changeOf, type Totals } from '../../data/sums.ts'
import { count, duration, money, share } from '../../design/format.ts'
import { Tile } from '../../design/page.tsx'

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
  const of = mine ? 'My ' : ''
  const named = (label: string) => (mine ? `${of}${label.toLowerCase()}` : label)
  const before = (value: string) =>
    previous.calls === 0 ? 'no calls in the time before' : `${value} in the time before`
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
              `${changeOf(total.spend, previous.spend)}, ${money(previous.spend)} in the time before`,
              total.saved > 0 && `${money(total.saved)} saved by the cache`,
              total.unpriced_calls > 0 && `without ${count(total.unpriced_calls)} calls that have no price`,
            ]}
          />
        }
      />
      <Tile
        label={named('Calls')}
        href={pathTo('requests', range)}
        value={count(total.calls)}
        note={`${changeOf(total.calls, previous.calls)}, ${count(previous.calls)} in the time before`}
      />
      <Tile
        label={named('Failed')}
        href={pathTo('requests', { ...range, ending: 'failed' })}
        value={total.calls === 0 ? '–' : share(total.failed_calls, total.calls)}
        note={
          <Lines
            of={[
              `${count(total.failed_calls)} of ${count(total.calls)} calls`,
              before(share(previous.failed_calls, previous.calls)),
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
              p95 !== null && `95 % end within ${duration(p95)}`,
              first !== null && `95 % begin within ${duration(first)}`,
              before(duration(previous.average_ms)),
            ]}
          />
        }
      />
    </div>
  )
}

const Lines = ({ of }: { readonly of: ReadonlyArray<string | false> }) => (
  <>
    {of.filter(Boolean).map((line) => (
      <div key={line}>{line}</div>
    ))}
  </>
)
