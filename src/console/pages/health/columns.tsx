import { Cut } from '../../design/badge.tsx'
import { StateOf } from '../../design/deployment-state.tsx'
import { count, duration } from '../../design/format.ts'
import type { Column } from '../../design/list/columns.tsx'
import { Meter } from '../../design/meter.tsx'
import { share } from '../../design/rounded.ts'
import { Ago } from '../../design/time.tsx'
import { Actions } from './actions.tsx'
import type { Deployment } from './deployment.ts'

export const COLUMNS: ReadonlyArray<Column<Deployment>> = [
  { id: 'deployment', label: 'Deployment', cell: ({ deployment_id: id }) => <Cut>{id}</Cut> },
  { id: 'state', label: 'State', cell: (one) => <StateOf deployment={one} /> },
  { id: 'active', label: 'Active', number: true, priority: 2, cell: ({ active_requests: active }) => count(active) },
  {
    id: 'used',
    label: 'Used',
    number: true,
    priority: 2,
    cell: ({ utilization: used }) => <Meter used={used} of={used > 0 ? 1 : null} text={share(used, 1)} />,
  },
  { id: 'average', label: 'Average', number: true, priority: 3, cell: ({ avg_latency_ms: ms }) => duration(ms) },
  { id: 'first', label: 'First token', number: true, priority: 3, cell: ({ first_token_ms: ms }) => duration(ms) },
  {
    id: 'failures',
    label: 'In a row',
    number: true,
    priority: 3,
    cell: ({ consecutive_failures: failures }) =>
      failures === 0 ? <span class="quiet">0</span> : `${count(failures)} failed`,
  },
  {
    id: 'error',
    label: 'Last error',
    priority: 2,
    cell: ({ last_error: error, last_error_at: at }) =>
      error === null ? (
        <span class="quiet">none</span>
      ) : (
        <>
          {error.replaceAll('_', ' ')} <span class="quiet">{at && <Ago at={at} />}</span>
        </>
      ),
  },
  {
    id: 'success',
    label: 'Last success',
    priority: 3,
    cell: ({ last_success_at: at }) => <Ago at={at} never="none yet" />,
  },
  { id: 'provider', label: 'Provider', optional: true, cell: ({ provider }) => provider },
]

export const ACTIONS: Column<Deployment> = {
  id: 'actions',
  label: 'Actions',
  pinned: true,
  cell: (one) => <Actions deployment={one} />,
}
