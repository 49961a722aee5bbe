import { useChange } from '../../data/change.ts'
import type { Row } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'

type Session = Row<'GET /auth/sessions'>

/** Where one is signed in. */
export function Sessions() {
  const read = useApi('GET /auth/sessions')
  const end = useChange('DELETE /auth/sessions/{session_id}', { refreshes: ['/auth/sessions'] })
  const others = read.data?.data.filter(({ current }) => !current) ?? []
  async function endAll(list: readonly Session[]): Promise<void> {
    try {
      for (const { session_id } of list) await end.mutateAsync({ params: { session_id } })
      toast(list.length === 1 ? 'The session has ended.' : `${list.length} sessions have ended.`)
    } catch (error) {
      toast((error as Error).message, { bad: true })
    }
  }
  const columns: ReadonlyArray<Column<Session>> = [
    {
      id: 'device',
      label: 'Device',
      cell: ({ user_agent, current }) => (
        <span class="row">
          <span class="cut" title={user_agent ?? undefined}>
            {deviceOf(user_agent)}
          </span>
          {current && <Badge tone="info">this one</Badge>}
        </span>
      ),
    },
    { id: 'ip', label: 'Address', priority: 2, cell: ({ ip }) => ip ?? '–' },
    { id: 'last', label: 'Last seen', cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
    {
      id: 'end',
      label: 'End',
      cell: (one) =>
        one.current ? null : (
          <Button small onClick={() => endAll([one])} busy={end.isPending}>
            End
          </Button>
        ),
    },
  ]
  return (
    <Section
      title="Sessions"
      actions={
        others.length > 1 && (
          <Button onClick={() => endAll(others)} busy={end.isPending}>
            End all others
          </Button>
        )
      }
    >
      <Loaded of={read}>
        {({ data }) => (
          <Table
            name="sessions"
            label="Sessions"
            columns={columns}
            rows={data}
            rowId={({ session_id }) => session_id}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** The browser and system of a user agent, in short. */
function deviceOf(agent: string | null): string {
  if (!agent) return 'unknown'
  const browser = /(Edg|Firefox|Chrome|Safari)\//.exec(agent)?.[1]?.replace('Edg', 'Edge')
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]?.replace('Mac OS X', 'macOS')
  return browser ? [browser, system].filter(Boolean).join(' on ') : agent
}
