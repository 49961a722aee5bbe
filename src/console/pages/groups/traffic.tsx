import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { count } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'
import { Section } from '../../design/page.tsx'
import { share } from '../../design/rounded.ts'
import { Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'

const LIVE = { live: 5 }
/** So many calls tell where calls go. */
const ENOUGH = 200
/** How long after it was published a policy is watched, in milliseconds. */
const WATCHED_MS = 3_600_000

interface Line {
  readonly id: string
  readonly deployment: string | null
  readonly calls: number
  readonly failed: number
  readonly all: number
}

const COLUMNS: ReadonlyArray<Column<Line>> = [
  {
    id: 'deployment',
    label: 'Deployment',
    cell: ({ deployment }) => deployment ?? <span class="quiet">none was asked</span>,
  },
  { id: 'calls', label: 'Calls', number: true, cell: ({ calls }) => count(calls) },
  {
    id: 'share',
    label: 'Share',
    cell: ({ calls, all }) => <Meter used={calls} of={all} text={share(calls, all)} plain />,
  },
  {
    id: 'failed',
    label: 'Failed',
    number: true,
    priority: 2,
    cell: ({ failed }) => (failed > 0 ? count(failed) : <span class="quiet">none</span>),
  },
]

/** Where calls really went since a policy was published: what the simulation foresaw is seen to be so. */
export function Traffic({ name, since }: { readonly name: string; readonly since: string }) {
  const isWatched = Date.now() - Date.parse(since) < WATCHED_MS
  const query = { model: name, from: since, limit: ENOUGH }
  const read = useApi('GET /ui/api/logs', { query }, { enabled: isWatched, ...LIVE })
  if (!isWatched) return null
  return (
    <Section
      title="Calls since it was published"
      actions={<a href={pathTo('requests', { model: name, from: since, to: inAnHour(since) })}>All of them</a>}
    >
      <Loaded of={read} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">
              It was published <Ago at={since} />. No call has ended since.
            </p>
          ) : (
            <Table
              name="group-traffic"
              label="Calls by deployment"
              columns={COLUMNS}
              rows={linesOf(data)}
              rowId={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

const inAnHour = (since: string) => new Date(Date.parse(since) + WATCHED_MS).toISOString()

function linesOf(calls: ReadonlyArray<{ readonly deployment: string | null; readonly ending: string }>): Line[] {
  const by = Map.groupBy(calls, ({ deployment }) => deployment)
  return [...by]
    .map(([deployment, own]) => ({
      id: deployment ?? '',
      deployment,
      calls: own.length,
      failed: own.filter(({ ending }) => ending === 'failed').length,
      all: calls.length,
    }))
    .toSorted((one, other) => other.calls - one.calls)
}
