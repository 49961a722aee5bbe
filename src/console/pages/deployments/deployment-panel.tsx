import type { ComponentChildren } from 'preact'
import { useChange } from '../../data/change.ts'
import { pathTo, useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { State } from '../../design/badge.tsx'
import { Button, ButtonLink, CopyButton } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { type HealthOfDeployment, StateOf } from '../../design/deployment-state.tsx'
import { budget, count, duration, money } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded, Notice } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import { type Deployment, limitWords, MODE_WORDS, type Mode, PRICES, scaled, texts, upstreamOf } from './deployment.ts'
import { labelOf } from './draft.ts'

/** One deployment: where it is, how it is, what it costs, its last calls. */
export function DeploymentPanel({
  id,
  health,
  onClose,
}: {
  readonly id: string
  readonly health: HealthOfDeployment | undefined
  readonly onClose: () => void
}) {
  const may = useMay()
  const params = useParams()
  const read = useApi('GET /ui/api/models/{deployment_id}', { params: { deployment_id: id } })
  const remove = useChange('DELETE /ui/api/models/{deployment_id}', { refreshes: ['/ui/api/models', '/health'] })
  const { data: deployment } = read
  async function ask(one: Deployment): Promise<void> {
    const question = {
      title: `Delete ${id}?`,
      body: (
        <>
          Calls to {one.model_name} go to its other deployments or fall back. The credentials that are kept with it are
          gone. If the configuration file has an entry of this id, that one is in force again.
        </>
      ),
      action: 'Delete',
      danger: true,
      typed: id,
      done: `${id} is deleted.`,
    }
    if (await performed(question, () => remove.mutateAsync({ params: { deployment_id: id } }))) onClose()
  }
  const to = (name: string) => params.with({ [name]: id, open: undefined })
  const isStored = deployment?.source === 'database'
  return (
    <Panel
      title={id}
      onClose={onClose}
      footer={
        deployment &&
        may('config.update') && (
          <>
            {isStored ? (
              <ButtonLink href={to('edit')}>Edit</ButtonLink>
            ) : (
              <ButtonLink href={to('override')}>Override in the database</ButtonLink>
            )}
            <ButtonLink href={to('copy')}>Another like it</ButtonLink>
            {isStored && (
              <Button kind="danger" busy={remove.isPending} onClick={() => ask(deployment)}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded of={read}>{(one) => <Content deployment={one} health={health} />}</Loaded>
    </Panel>
  )
}

function Content({
  deployment,
  health,
}: {
  readonly deployment: Deployment
  readonly health: HealthOfDeployment | undefined
}) {
  const { deployment_id: id, model_name, source, gateway_params: params, model_info: info, prices } = deployment
  const { kind, model } = upstreamOf(deployment)
  const place = useParams()
  const settings = Object.entries(params).filter(([name]) => !['provider', 'model', 'credential'].includes(name))
  const { credential } = params
  const priced = PRICES.flatMap(({ name, label, per, unit }): [string, string][] => {
    const price = prices[name]
    if (typeof price === 'object') return [[label, 'by size']]
    return typeof price === 'number'
      ? [
          [
            label,
            `${budget(scaled(price, per))} ${unit.slice(2)}${info[name] === undefined ? ', of the price table' : ''}`,
          ],
        ]
      : []
  })
  const words = (value: unknown) => texts(value).join(', ') || undefined
  return (
    <>
      {source === 'file' && (
        <Notice>
          This is an entry of the configuration file, which is changed there. A deployment of the database can stand in
          its place.
        </Notice>
      )}
      {deployment.problem && <Notice tone="bad">It takes no calls. {deployment.problem}</Notice>}
      {health && (
        <Section title="Health" level={3}>
          <Facts
            of={[
              ['State', <StateOf deployment={health} />],
              ['Calls at this moment', count(health.active_requests)],
              ['First token', duration(health.first_token_ms)],
              ['Average', duration(health.avg_latency_ms)],
              [
                'Last error',
                health.last_error === null ? (
                  <span class="quiet">none</span>
                ) : (
                  <>
                    {health.last_error.replaceAll('_', ' ')} {health.last_error_at && <Ago at={health.last_error_at} />}
                  </>
                ),
              ],
            ]}
          />
        </Section>
      )}
      <Section title="What it is" level={3}>
        <Facts
          of={[
            ['Public name', <span class="mono">{model_name}</span>],
            ['Provider', kind],
            ['Model', <span class="mono">{model}</span>],
            ['Kind of requests', info.mode ? MODE_WORDS[info.mode as Mode] : 'all that the provider serves'],
            ['Limits per minute', limitWords(info).join(', ') || <span class="quiet">no limit</span>],
            ['Weight', String(info.weight ?? 1)],
            ['Priority', String(info.priority ?? 0)],
            ['Tags', words(info.tags)],
            ['Access groups', words(info.access_groups)],
            [
              'Id',
              <span class="row">
                <span class="mono">{id}</span>
                <CopyButton text={id} label="Copy the id" />
              </span>,
            ],
          ]}
        />
      </Section>
      <Section title="Price" level={3}>
        {priced.length > 0 ? <Facts of={priced} /> : <State tone="warn">no price</State>}
      </Section>
      {(settings.length > 0 || credential !== undefined) && (
        <Section title="Connection" level={3}>
          <Facts
            of={[
              [
                'Credential',
                typeof credential === 'string' ? (
                  <a href={place.with({ tab: 'credentials', open: credential })}>{credential}</a>
                ) : undefined,
              ],
              ...settings.map(([name, value]): [string, ComponentChildren] => [
                labelOf(name),
                <SettingValue value={value} />,
              ]),
            ]}
          />
        </Section>
      )}
      <LastCalls id={id} />
      <Section title="Changes" level={3}>
        <p class="row">
          {deployment.updated_at && (
            <span class="quiet">
              Changed <Ago at={deployment.updated_at} />
            </span>
          )}
          <a href={pathTo('audit', { resource_id: id })}>Every change, with its author</a>
        </p>
      </Section>
    </>
  )
}

/** A parameter of a connection; of a secret only that there is one. */
export function SettingValue({ value }: { readonly value: unknown }) {
  if (value === '[secret]') return <>set</>
  if (typeof value === 'object' && value !== null) return <span class="mono">{Object.keys(value).join(', ')}</span>
  return <span class="mono">{String(value)}</span>
}

function LastCalls({ id }: { readonly id: string }) {
  const may = useMay()
  const read = useApi('GET /ui/api/logs', { query: { deployment: id, limit: 5 } }, { enabled: may('spend.read') })
  const calls = read.data?.data ?? []
  if (calls.length === 0) return null
  return (
    <Section
      title="Last calls"
      level={3}
      actions={
        <a class="small" href={pathTo('requests', { deployment: id })}>
          All of them
        </a>
      }
    >
      <ul class="lines">
        {calls.map((call) => (
          <li key={call.call_id}>
            <a href={pathTo('requests', { open: call.call_id })}>
              <Ago at={call.at} />
            </a>
            <span class={call.ending === 'failed' ? 'wrong' : 'quiet'}>{call.ending.replaceAll('_', ' ')}</span>
            <span>{duration(call.total_ms)}</span>
            <span>{money(call.cost)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
