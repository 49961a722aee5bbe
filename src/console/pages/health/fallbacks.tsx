import type { Answer } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Badge } from '../../design/badge.tsx'
import { Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Moment } from '../../design/time.tsx'
import { recent } from '../../design/time-words.ts'

type Fallback = Answer<'GET /health/fallback-events'>['events'][number] & { readonly at: string }

const COLUMNS: ReadonlyArray<Column<Fallback>> = [
  {
    id: 'time',
    label: 'Time',
    cell: ({ timestamp, call_id: call }) =>
      call === null ? (
        <Moment at={timestamp} as={recent} />
      ) : (
        <a href={pathTo('requests', { open: call })}>
          <Moment at={timestamp} as={recent} />
        </a>
      ),
  },
  { id: 'from', label: 'From', cell: ({ source_model: source }) => source },
  { id: 'to', label: 'To', cell: ({ target_model: target }) => target },
  {
    id: 'why',
    label: 'Because of',
    priority: 2,
    cell: ({ error_classification: error }) => error.replaceAll('_', ' '),
  },
  {
    id: 'outcome',
    label: 'Outcome',
    cell: ({ success }) => (success ? 'answered' : <Badge tone="bad">failed too</Badge>),
  },
]

/** Calls that another model answered, or tried to: of all models, or from one and to it. */
export function Fallbacks({
  model,
  live,
  level = 2,
}: {
  readonly model: string | undefined
  readonly live: number
  readonly level?: 2 | 3
}) {
  const read = useApi('GET /health/fallback-events', { query: { limit: 100 } }, { live })
  return (
    <Section title="Fallbacks" level={level}>
      <Loaded of={read}>
        {({ events }) => {
          const shown = events.filter(
            ({ source_model, target_model }) => !model || source_model === model || target_model === model,
          )
          if (shown.length === 0) return <p class="quiet">No call used a fallback recently.</p>
          return (
            <Table
              name="fallbacks"
              label={level === 2 ? 'Fallbacks' : `Fallbacks of ${model}`}
              columns={COLUMNS}
              rows={shown.map((event, at) => ({ ...event, at: `${event.timestamp} ${at}` }))}
              rowId={({ at }) => at}
            />
          )
        }}
      </Loaded>
    </Section>
  )
}
