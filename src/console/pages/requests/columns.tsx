import { pathTo } from '../../data/params.ts'
import { Badge, Entity, State } from '../../design/badge.tsx'
import { count, dayAndTime, duration, money } from '../../design/format.ts'
import type { Column } from '../../design/table.tsx'
import { Moment } from '../../design/time.tsx'
import { type Call, endingOf } from './call.ts'

const none = <span class="quiet">–</span>

export const columnsFor = (pages: readonly string[]): ReadonlyArray<Column<Call>> => {
  const leads = (page: string, open: string | null) =>
    open && pages.includes(page) ? pathTo(page, { open }) : undefined
  return [
    { id: 'at', label: 'Time', cell: ({ at }) => <Moment at={at} as={dayAndTime} /> },
    {
      id: 'ending',
      label: 'Ending',
      cell: (call) => {
        const { tone, words } = endingOf(call)
        return <State tone={tone}>{words}</State>
      },
    },
    {
      id: 'model',
      label: 'Model',
      cell: ({ requested_model, model }) => (
        <span
          class="cut"
          title={model && model !== requested_model ? `${requested_model} → ${model}` : requested_model}
        >
          {requested_model}
          {model && model !== requested_model && ` → ${model}`}
        </span>
      ),
    },
    {
      id: 'deployment',
      label: 'Deployment',
      priority: 2,
      cell: ({ deployment }) => (deployment ? <span class="cut">{deployment}</span> : none),
    },
    {
      id: 'key',
      label: 'Key',
      priority: 2,
      cell: ({ key_id, key_name }) => <Entity id={key_id} name={key_name} href={leads('keys', key_id)} />,
    },
    {
      id: 'team',
      label: 'Team',
      priority: 3,
      cell: ({ team_id, team_name }) => <Entity id={team_id} name={team_name} href={leads('teams', team_id)} />,
    },
    {
      id: 'tokens',
      label: 'Tokens in → out',
      number: true,
      priority: 3,
      cell: ({ input_tokens, output_tokens }) => `${count(input_tokens)} → ${count(output_tokens)}`,
    },
    {
      id: 'first',
      label: 'First token',
      number: true,
      priority: 3,
      cell: ({ first_token_ms }) => duration(first_token_ms),
    },
    { id: 'total', label: 'Total', number: true, priority: 2, cell: ({ total_ms }) => duration(total_ms) },
    {
      id: 'cost',
      label: 'Cost',
      number: true,
      priority: 2,
      cell: ({ cost, ending }) =>
        cost === null ? ending === 'failed' ? none : <State tone="warn">no price</State> : money(cost),
    },
    {
      id: 'tries',
      label: 'Tries',
      priority: 3,
      cell: ({ attempts, failed_over }) =>
        attempts > 1 ? <Badge tone={failed_over ? 'warn' : 'quiet'}>{`${attempts} tries`}</Badge> : '',
    },
    { id: 'endpoint', label: 'Endpoint', optional: true, cell: ({ endpoint }) => <span class="mono">{endpoint}</span> },
    {
      id: 'user',
      label: 'User',
      optional: true,
      cell: ({ user_id, user_name }) => <Entity id={user_id} name={user_name} />,
    },
    { id: 'provider', label: 'Provider', optional: true, cell: ({ provider }) => provider ?? none },
    { id: 'cache', label: 'Cache', optional: true, cell: ({ cache }) => (cache === 'off' ? none : cache) },
    { id: 'tags', label: 'Tags', optional: true, cell: ({ tags }) => tags.join(', ') || none },
    {
      id: 'overhead',
      label: 'Gateway itself',
      number: true,
      optional: true,
      cell: ({ overhead_ms }) => `${overhead_ms.toFixed(1)} ms`,
    },
    {
      id: 'request',
      label: 'Request id',
      optional: true,
      cell: ({ request_id }) => <span class="mono">{request_id}</span>,
    },
  ]
}
