import { type AuditEvent, actorOf, deed, pageOf, refused } from '../../data/deeds.ts'
import { pathTo } from '../../data/params.ts'
import { Badge, Entity } from '../../design/badge.tsx'
import { CopyButton } from '../../design/button.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Moment } from '../../design/time.tsx'

const TEN_MINUTES = 600_000

/** All of one event: what changed from what to what, and where it came from. */
export function EventPanel({ event, onClose }: { readonly event: AuditEvent; readonly onClose: () => void }) {
  const page = pageOf(event.resource_type)
  const at = Date.parse(event.occurred_at)
  const around = {
    from: new Date(at - TEN_MINUTES).toISOString(),
    to: new Date(at + TEN_MINUTES).toISOString(),
    actor_id: event.actor_id,
  }
  return (
    <Panel title={`${actorOf(event)} ${deed(event).words}`} onClose={onClose}>
      <Section title="What changed" level={3}>
        <Changes event={event} />
      </Section>
      <Section title="About" level={3}>
        <Facts
          of={[
            ['Time', <Moment at={event.occurred_at} />],
            ['Actor', event.actor_id === null ? actorOf(event) : <Entity name={actorOf(event)} id={event.actor_id} />],
            ['Action', <span class="mono">{event.action}</span>],
            [
              'Resource',
              event.resource_id === null ? undefined : (
                <Entity
                  name={event.resource_name}
                  id={event.resource_id}
                  href={
                    page && event.action.endsWith('.delete') === false
                      ? pathTo(page, { open: event.resource_id })
                      : undefined
                  }
                />
              ),
            ],
            [
              'Organization',
              event.organization_id === null ? undefined : (
                <Entity id={event.organization_id} href={pathTo('organizations', { open: event.organization_id })} />
              ),
            ],
            ['Outcome', refused(event) ? <Refusal event={event} /> : 'done'],
            ['Address', event.ip ?? undefined],
            ['Agent', event.user_agent ?? undefined],
            [
              'Request id',
              event.request_id ? (
                <span class="row">
                  <span class="mono">{event.request_id}</span>
                  <CopyButton text={event.request_id} label="Copy the request id" />
                </span>
              ) : undefined,
            ],
          ]}
        />
      </Section>
      {Object.keys(event.metadata).length > 0 && (
        <Section title="Details" level={3}>
          <Facts of={Object.entries(event.metadata).map(([name, value]) => [name, <Value of={value} />])} />
        </Section>
      )}
      {event.actor_id && (
        <p>
          <a href={pathTo('audit', around)}>What this actor did ten minutes before and after</a>
        </p>
      )}
    </Panel>
  )
}

/** Only what was not done is marked. */
export function Refusal({ event }: { readonly event: AuditEvent }) {
  return refused(event) ? <Badge tone="bad">refused {event.status}</Badge> : null
}

function Changes({ event }: { readonly event: AuditEvent }) {
  const changes = Object.entries(event.changes)
  if (changes.length === 0) return <p class="quiet">{refused(event) ? 'Nothing: it was refused.' : 'No field.'}</p>
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(([name, change]) => (
            <tr key={name}>
              <td class="mono">{name}</td>
              <td>
                <Value of={change.old} />
              </td>
              <td>
                <Value of={change.new} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Value({ of }: { readonly of: unknown }) {
  if (of === null || of === undefined) return <span class="quiet">none</span>
  return <span class="mono">{typeof of === 'string' ? of : JSON.stringify(of)}</span>
}
