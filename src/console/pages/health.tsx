import { useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useMay } from '../data/session.ts'
import { StateOf } from '../design/deployment-state.tsx'
import { type Filter, Filters } from '../design/filters.tsx'
import { count, duration, share } from '../design/format.ts'
import { Meter } from '../design/meter.tsx'
import { Page, Tile } from '../design/page.tsx'
import { Empty, Loaded, Notice } from '../design/states.tsx'
import { type Column, ColumnChoice, Table } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { Actions } from './health/actions.tsx'
import { type Deployment, type Health as Reading, worstFirst } from './health/deployment.ts'
import { Fallbacks } from './health/fallbacks.tsx'

const LIVE_SECONDS = 5

const COLUMNS: ReadonlyArray<Column<Deployment>> = [
  { id: 'deployment', label: 'Deployment', cell: ({ deployment_id: id }) => <span class="cut left">{id}</span> },
  { id: 'state', label: 'State', cell: (one) => <StateOf deployment={one} /> },
  { id: 'model', label: 'Model', priority: 2, cell: ({ model_name: name }) => <span class="cut left">{name}</span> },
  { id: 'provider', label: 'Provider', priority: 3, cell: ({ provider }) => provider },
  { id: 'active', label: 'Active', number: true, priority: 2, cell: ({ active_requests: active }) => count(active) },
  {
    id: 'used',
    label: 'Used',
    priority: 2,
    cell: ({ utilization: used }) => <Meter used={used} of={used > 0 ? 1 : null} text={share(used, 1)} />,
  },
  { id: 'average', label: 'Average', number: true, priority: 3, cell: ({ avg_latency_ms: ms }) => duration(ms) },
  { id: 'first', label: 'First token', number: true, priority: 3, cell: ({ first_token_ms: ms }) => duration(ms) },
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
]

const ACTIONS: Column<Deployment> = { id: 'actions', label: 'Actions', cell: (one) => <Actions deployment={one} /> }

export function Health() {
  const params = useParams()
  const may = useMay()
  const model = params.get('model') || undefined
  const query = model === undefined ? {} : { model }
  const read = useApi('GET /health/deployments', { query }, { live: LIVE_SECONDS })
  const ready = useApi('GET /health', {}, { live: LIVE_SECONDS })
  const models = [...new Set(read.data?.deployments.map(({ model_name }) => model_name))].toSorted()
  const filters: readonly Filter[] = [
    { name: 'model', label: 'Model', choices: models.map((name) => ({ value: name, label: name })) },
  ]
  return (
    <Page title="Health">
      <Loaded of={read}>
        {(health) => (
          <>
            <Store health={health} checks={ready.data?.readiness.checks} />
            <Tiles health={health} />
            <div class="bar">
              <Filters filters={filters} />
              <span class="end">
                <ColumnChoice name="health" columns={COLUMNS} />
              </span>
            </div>
            {health.deployments.length === 0 ? (
              <Empty title="No deployment">There is none that you may call.</Empty>
            ) : (
              <Table
                name="health"
                label="Deployments"
                columns={may('config.update') ? [...COLUMNS, ACTIONS] : COLUMNS}
                rows={worstFirst(health.deployments)}
                rowId={({ deployment_id }) => deployment_id}
              />
            )}
            <Spoken deployments={health.deployments} />
          </>
        )}
      </Loaded>
      <Fallbacks model={model} live={LIVE_SECONDS} />
    </Page>
  )
}

function Tiles({ health }: { readonly health: Reading }) {
  const of = (state: Deployment['state']) => health.deployments.filter((one) => one.state === state).length
  const cooling = of('cooling') + of('probing')
  return (
    <div class="tiles">
      <Tile label="Healthy" value={`${health.healthy_count} of ${health.total_count}`} />
      <Tile
        label="Cooling"
        value={count(cooling)}
        note={cooling > 0 ? 'get no calls until they are probed' : undefined}
      />
      <Tile label="Drained" value={count(of('drained'))} />
      <Tile
        label="Calls at this moment"
        value={count(health.deployments.reduce((sum, { active_requests: active }) => sum + active, 0))}
      />
    </div>
  )
}

/** Only what is not as it should be. */
function Store({
  health: { store },
  checks,
}: {
  readonly health: Reading
  readonly checks: { readonly redis: boolean; readonly database: boolean } | undefined
}) {
  return (
    <>
      {store.mode === 'degraded' && (
        <Notice tone="bad">
          The shared store cannot be reached: what is shown is known to this process only, and{' '}
          {store.degraded_mode === 'fail_open' ? 'calls go on without limits' : 'calls with limits are refused'}.
        </Notice>
      )}
      {checks?.database === false && (
        <Notice tone="warn">The database cannot be reached: administration is read-only, and model calls go on.</Notice>
      )}
    </>
  )
}

/** Says changes of states to those who do not see the table, and nothing else. */
function Spoken({ deployments }: { readonly deployments: readonly Deployment[] }) {
  const away = deployments.filter(({ state }) => state !== 'healthy')
  return (
    <p class="visually-hidden" role="status">
      {away.length === 0
        ? 'All deployments are healthy.'
        : away.map(({ deployment_id: id, state }) => `${id} is ${state}.`).join(' ')}
    </p>
  )
}
