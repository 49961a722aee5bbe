import { pathTo } from '../../data/params.ts'
import { Badge, Cut, Entity, State } from '../../design/badge.tsx'
import { count, duration, money } from '../../design/format.ts'
import type { Column } from '../../design/list/columns.tsx'
import { Narrow } from '../../design/list/narrow.tsx'
import { Moment } from '../../design/time.tsx'
import { recent } from '../../design/time-words.ts'
import { type Call, endingOf } from './call.ts'

const none = <span class="quiet">–</span>

export const columnsFor = (pages: readonly string[]): ReadonlyArray<Column<Call>> => {
  const leads = (page: string, open: string | null) =>
    open && pages.includes(page) ? pathTo(page, { open }) : undefined
  return [
    { id: 'at', label: 'Time', cell: ({ at }) => <Moment at={at} as={recent} /> },
    {
      id: 'ending',
      label: 'Ending',
      cell: (call) => {
        const { tone, words } = endingOf(call)
        const [name, value] = call.error_type ? ['error_type', call.error_type] : ['ending', call.ending]
        return (
          <>
            <Narrow name={name} value={value} label={`calls that ended so: ${words}`} excludes>
              <State tone={tone}>{words}</State>
            </Narrow>{' '}
            <Tries of={call} />
          </>
        )
      },
    },
    {
      id: 'model',
      label: 'Model',
      elastic: true,
      cell: ({ requested_model, model }) => {
        const isOther = model !== null && model !== requested_model
        return (
          <Narrow name="model" value={model} label={`the model ${model}`} excludes>
            <Cut>{isOther ? `${requested_model} → ${model}` : requested_model}</Cut>
          </Narrow>
        )
      },
    },
    {
      id: 'deployment',
      label: 'Deployment',
      priority: 2,
      cell: ({ deployment }) =>
        deployment ? (
          <Narrow name="deployment" value={deployment} label={`the deployment ${deployment}`} excludes>
            <Cut>{deployment}</Cut>
          </Narrow>
        ) : (
          none
        ),
    },
    {
      id: 'key',
      label: 'Key',
      priority: 2,
      cell: ({ key_id, key_name }) => (
        <Entity id={key_id} name={key_name} href={leads('keys', key_id)} filter="key_id" />
      ),
    },
    {
      id: 'team',
      label: 'Team',
      priority: 3,
      cell: ({ team_id, team_name }) => (
        <Entity id={team_id} name={team_name} href={leads('teams', team_id)} filter="team_id" />
      ),
    },
    {
      id: 'tokens',
      label: 'Tokens',
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
      id: 'endpoint',
      label: 'Endpoint',
      optional: true,
      cell: ({ endpoint }) => (
        <Narrow name="endpoint" value={endpoint} label={endpoint}>
          <span class="mono">{endpoint}</span>
        </Narrow>
      ),
    },
    {
      id: 'user',
      label: 'User',
      optional: true,
      cell: ({ user_id, user_name }) => <Entity id={user_id} name={user_name} filter="user_id" />,
    },
    {
      id: 'provider',
      label: 'Provider',
      optional: true,
      cell: ({ provider }) =>
        provider ? (
          <Narrow name="provider" value={provider} label={`the provider ${provider}`} excludes>
            {provider}
          </Narrow>
        ) : (
          none
        ),
    },
    {
      id: 'cache',
      label: 'Cache',
      optional: true,
      cell: ({ cache }) =>
        cache === 'off' ? (
          none
        ) : (
          <Narrow name="cache" value={cache} label={`the cache: ${cache}`}>
            {cache}
          </Narrow>
        ),
    },
    {
      id: 'tags',
      label: 'Tags',
      optional: true,
      cell: ({ tags }) =>
        tags.length === 0 ? (
          none
        ) : (
          <span class="tags">
            {tags.map((tag) => (
              <Narrow key={tag} name="tag" value={tag} label={`the tag ${tag}`}>
                <Badge>{tag}</Badge>
              </Narrow>
            ))}
          </span>
        ),
    },
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

/** That more than one deployment was asked, or one more than once. */
const Tries = ({ of: { attempts, failed_over } }: { readonly of: Call }) =>
  attempts > 1 ? (
    <Narrow name="failed_over" value={failed_over ? 'true' : null} label="calls that failed over">
      <Badge tone={failed_over ? 'warn' : 'quiet'}>{`${attempts} tries`}</Badge>
    </Narrow>
  ) : null
