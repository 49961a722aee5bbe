import { useEffect, useRef } from 'preact/hooks'
import { pathTo, useOpen, useParams } from '../data/params.ts'
import { useApi } from '../data/query.ts'
import { useMay } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { ButtonLink } from '../design/button.tsx'
import { type Filter, Filters } from '../design/filters.tsx'
import { count } from '../design/format.ts'
import { ColumnChoice } from '../design/list/columns.tsx'
import { Page, Tile } from '../design/page.tsx'
import { Empty, Loaded, Notice } from '../design/states.tsx'
import { Table } from '../design/table.tsx'
import { useCheck } from './health/actions.tsx'
import { ACTIONS, COLUMNS } from './health/columns.tsx'
import { type Deployment, type Health as Reading, worstFirst } from './health/deployment.ts'
import { Fallbacks } from './health/fallbacks.tsx'
import { HealthPanel } from './health/health-panel.tsx'

const LIVE_SECONDS = 5

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
  const [open, show] = useOpen()
  const opened = read.data?.deployments.find(({ deployment_id: id }) => id === open)
  const check = useCheck()
  const checks = useRef(check.ask)
  checks.current = check.ask
  const mayCheck = may('config.update')
  useEffect(() => {
    if (!mayCheck) return undefined
    return shortcut('x', 'Check the deployment now', () => {
      const id = open ?? document.activeElement?.closest<HTMLElement>('tr[data-id]')?.dataset.id
      if (id) checks.current(id)
    })
  }, [mayCheck, open])
  return (
    <Page
      title="Health"
      panel={
        opened && (
          <HealthPanel
            key={opened.deployment_id}
            deployment={opened}
            live={LIVE_SECONDS}
            onClose={() => show(undefined)}
          />
        )
      }
    >
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
              <Empty
                title="No deployment"
                actions={may('config.update') && <ButtonLink href={pathTo('deployments')}>Add one</ButtonLink>}
              >
                You may call no deployment.
              </Empty>
            ) : (
              <Table
                name="health"
                label="Deployments"
                columns={may('config.update') ? [...COLUMNS, ACTIONS] : COLUMNS}
                group={({ model_name }) => model_name}
                rows={worstFirst(health.deployments)}
                rowId={({ deployment_id }) => deployment_id}
                href={({ deployment_id }) => params.with({ open: deployment_id })}
                onOpen={({ deployment_id }) => show(deployment_id)}
                open={open}
              />
            )}
            {may('config.update') && health.deployments.every(({ provider }) => provider === 'echo') && (
              <p class="quiet">
                echo is the only deployment: it repeats what it is asked.{' '}
                <a href={pathTo('deployments')}>Add a provider</a>
              </p>
            )}
            <Spoken deployments={health.deployments} />
          </>
        )}
      </Loaded>
      {/* Asked for at once, and shown where it stays. */}
      <div hidden={read.isPending}>
        <Fallbacks model={model} live={LIVE_SECONDS} />
      </div>
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

/** How the store is that processes share, and whether the database is there: one line, and in full what is not as it should
 *  be. */
function Store({
  health: { store },
  checks,
}: {
  readonly health: Reading
  readonly checks: { readonly redis: boolean; readonly database: boolean } | undefined
}) {
  const isWell = store.mode !== 'degraded' && checks?.database !== false
  return (
    <>
      {isWell && checks && (
        <p class="quiet small">
          Ready: {store.mode === 'shared' ? 'the store is shared by all processes' : 'one process, its own store'}, the
          database is there.
        </p>
      )}
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
