import { useApi } from '../../data/query.ts'
import { State } from '../../design/badge.tsx'
import { count, duration } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded, Notice } from '../../design/states.tsx'
import { Ago, Moment } from '../../design/time.tsx'
import { DeadLetters } from './dead-letters.tsx'

const reached = (ok: boolean, ms: number | null) =>
  ok ? (
    <State>{ms === null ? 'reached' : `answers in ${duration(ms)}`}</State>
  ) : (
    <State tone="bad">cannot be reached</State>
  )

const STORES = { redis: 'Redis', 'durable-object': 'a Durable Object', 'in-process': 'in this process' }

/** What runs here, and how its stores are. */
export function Installation() {
  const read = useApi('GET /ui/api/instance', {}, { live: 10 })
  return (
    <Loaded of={read}>
      {({ store, database, schema, queue, records_waiting: waiting, ...one }) => (
        <>
          {one.draining && <Notice tone="warn">This process is ending: it takes no new calls.</Notice>}
          <div class="columns">
            <div class="card">
              <Section title="Gateway">
                <Facts
                  of={[
                    ['Version', one.version],
                    ['Runtime', one.runtime],
                    ['Processes', one.processes === null ? undefined : count(one.processes)],
                    ['Started', one.started_at === null ? undefined : <Ago at={one.started_at} />],
                  ]}
                />
              </Section>
            </div>
            <div class="card">
              <Section title="Shared store">
                <Facts
                  of={[
                    ['Kind', STORES[store.kind]],
                    ['State', reached(store.ok, store.latency_ms)],
                    ['While it is away', store.degraded_mode === 'fail_open' ? 'calls go on' : 'calls are refused'],
                  ]}
                />
              </Section>
            </div>
            <div class="card">
              <Section title="Database">
                <Facts
                  of={[
                    ['Kind', database.kind === 'postgresql' ? 'PostgreSQL' : 'embedded'],
                    ['Version', database.version ?? undefined],
                    ['State', reached(database.ok, database.latency_ms)],
                    ['Schema', schema === null ? undefined : <span class="mono">{schema.version.slice(0, 12)}</span>],
                    ['Schema applied', schema === null ? undefined : <Moment at={schema.applied_at} />],
                  ]}
                />
              </Section>
            </div>
            <div class="card">
              <Section title="Waiting to be written">
                <Facts
                  of={[
                    ...Object.entries(waiting).map(
                      ([name, number]) => [name.replaceAll('_', ' '), count(number)] as const,
                    ),
                    ['Queue', queue === null ? undefined : count(queue.waiting)],
                    ['Given up', queue === null ? undefined : count(queue.dead)],
                    ['Oldest', queue?.oldest_sent_at ? <Ago at={queue.oldest_sent_at} /> : undefined],
                  ]}
                />
              </Section>
            </div>
          </div>
          <DeadLetters />
        </>
      )}
    </Loaded>
  )
}
