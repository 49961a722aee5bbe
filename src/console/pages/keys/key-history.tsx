import type { Row } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { ButtonLink } from '../../design/button.tsx'
import { Empty, Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import type { Key } from '../key/key.ts'

type Event = Row<'GET /ui/api/audit/events'>

/** Who did what to a key. */
export function KeyHistory({ of: key }: { readonly of: Key }) {
  const read = useApi('GET /ui/api/audit/events', { query: { resource_id: key.key_id, limit: 50 } })
  return (
    <Loaded of={read}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="Nothing was written about it" />
        ) : (
          <>
            <ol class="events">
              {data.map((event) => (
                <li key={event.event_id}>
                  <span class="row">
                    <b>{event.action}</b>
                    {event.status >= 400 && <span class="quiet">refused with {event.status}</span>}
                    <span class="quiet small end">
                      <Ago at={event.occurred_at} />
                    </span>
                  </span>
                  <span class="quiet small">
                    by {event.actor_name ?? event.actor_id ?? event.actor_type.replaceAll('_', ' ')}
                  </span>
                  {changesOf(event).map((change) => (
                    <span key={change} class="small">
                      {change}
                    </span>
                  ))}
                </li>
              ))}
            </ol>
            <div class="row">
              <ButtonLink small href={pathTo('audit', { resource_id: key.key_id })}>
                Open in Audit
              </ButtonLink>
            </div>
          </>
        )
      }
    </Loaded>
  )
}

const shown = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)

const changesOf = ({ changes }: Event): string[] =>
  Object.entries(changes).map(([name, { old, new: now }]) => `${name}: ${shown(old)} → ${shown(now)}`)
