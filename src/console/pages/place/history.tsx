import { type AuditEvent, actorOf, deed, refused, resourceOf, shown } from '../../data/deeds.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { ButtonLink } from '../../design/button.tsx'
import { Empty, Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'

const MOST = 50

/** What was done to one thing, or in one organization, and by whom. */
export function History({
  of: query,
}: {
  readonly of: { readonly resource_id: string } | { readonly organization_id: string }
}) {
  const read = useApi('GET /ui/api/audit/events', { query: { ...query, limit: MOST } })
  const isOne = 'resource_id' in query
  return (
    <Loaded of={read}>
      {({ data, next_cursor }) =>
        data.length === 0 ? (
          <Empty title={isOne ? 'Nothing was written about it' : 'Nothing was written here yet'} />
        ) : (
          <>
            <ol class="events">
              {data.map((event) => (
                <li key={event.event_id}>
                  <span class="row">
                    <a class="grow" href={pathTo('audit', { ...query, ...around(event), open: event.event_id })}>
                      {deed(event).words}
                    </a>
                    {refused(event) && <span class="wrong small">refused with {event.status}</span>}
                    <span class="quiet small">
                      <Ago at={event.occurred_at} />
                    </span>
                  </span>
                  <span class="quiet small">
                    by {actorOf(event)}
                    {!isOne && deed(event).namesResource && ` · ${resourceOf(event) ?? ''}`}
                  </span>
                  {isOne &&
                    linesOf(event).map((line) => (
                      <span key={line} class="small">
                        {line}
                      </span>
                    ))}
                </li>
              ))}
            </ol>
            <div class="row">
              {next_cursor && <span class="quiet small">The last {MOST}.</span>}
              <ButtonLink small href={pathTo('audit', { ...query, range: '30d' })}>
                Open in Audit
              </ButtonLink>
            </div>
          </>
        )
      }
    </Loaded>
  )
}

/** A time in which the list of the audit has the event, however old it is. */
function around({ occurred_at: at }: AuditEvent): { readonly from: string; readonly to: string } {
  const [from, to] = [-10, 10].map((minutes) => new Date(Date.parse(at) + minutes * 60_000).toISOString())
  return { from, to } as { from: string; to: string }
}

/** The fields that changed; one alone is in the words of the event. */
function linesOf({ changes }: AuditEvent): readonly string[] {
  const all = Object.entries(changes)
  if (all.length < 2) return []
  return all.map(([name, { old, new: now }]) => `${name}: ${shown(old)} → ${shown(now)}`)
}
