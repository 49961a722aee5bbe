import { useState } from 'preact/hooks'
import type { Row } from '../data/client.ts'
import { lookups } from '../data/lookups.ts'
import { pathTo, useParams } from '../data/params.ts'
import { useApi, useChange, usePages } from '../data/query.ts'
import { useScope } from '../data/scope.ts'
import { useMay } from '../data/session.ts'
import { Entity } from '../design/badge.tsx'
import { Button, CopyButton } from '../design/button.tsx'
import { Dialog, confirmed } from '../design/dialog.tsx'
import { CheckField, FormFoot, LimitField, LookupField, NumberField, TextField } from '../design/fields.tsx'
import { type Filter, Filters, filterQuery, SearchField } from '../design/filters.tsx'
import { useForm } from '../design/form.tsx'
import { budget, count, money } from '../design/format.ts'
import { Meter } from '../design/meter.tsx'
import { Facts, Page, Section } from '../design/page.tsx'
import { Panel } from '../design/panel.tsx'
import { Empty, Loaded } from '../design/states.tsx'
import { type Column, ColumnChoice, ListTable } from '../design/table.tsx'
import { Ago } from '../design/time.tsx'
import { toast } from '../design/toast.tsx'

type Team = Row<'GET /ui/api/teams'>

const FILTERS: readonly Filter[] = [{ name: 'organization_id', label: 'Organization', lookup: lookups.organization }]

const COLUMNS: ReadonlyArray<Column<Team>> = [
  { id: 'name', label: 'Team', cell: (team) => team.team_name ?? team.team_id },
  { id: 'organization', label: 'Organization', priority: 2, cell: (team) => <Entity id={team.organization_id} href={team.organization_id ? pathTo('organizations', { open: team.organization_id }) : undefined} /> },
  { id: 'spend', label: 'Spent of budget', cell: (team) => <Spent team={team} /> },
  { id: 'rpm', label: 'Requests per minute', number: true, priority: 3, cell: (team) => count(team.rpm_limit) },
  { id: 'tpm', label: 'Tokens per minute', number: true, priority: 3, cell: (team) => count(team.tpm_limit) },
  { id: 'self', label: 'Own keys', priority: 2, cell: (team) => (team.self_service_keys_enabled ? 'on' : <span class="quiet">off</span>) },
  { id: 'created', label: 'Created', priority: 3, cell: (team) => <Ago at={team.created_at} /> },
  { id: 'id', label: 'Id', optional: true, cell: (team) => <span class="mono">{team.team_id}</span> },
]

export function Teams() {
  const params = useParams()
  const may = useMay()
  const scope = useScope()
  const [creating, setCreating] = useState(false)
  const [fresh, setFresh] = useState<readonly string[]>([])
  const query = { ...scope.organization_id ? { organization_id: scope.organization_id } : {}, ...filterQuery(params, FILTERS), search: params.get('search') || undefined }
  const list = usePages('GET /ui/api/teams', { query })
  const open = params.get('open') || undefined
  const show = (id: string | undefined) => params.set({ open: id }, { replace: open !== undefined && id !== undefined })
  const filtered = Object.values(query).some(Boolean)
  const create = may('team.update') && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New team
    </Button>
  )
  return (
    <Page title="Teams" actions={create} panel={open && <TeamPanel key={open} id={open} onClose={() => show(undefined)} />}>
      <div class="bar">
        <SearchField label="Search teams" />
        <Filters filters={FILTERS} />
        <span class="end">
          <ColumnChoice name="teams" columns={COLUMNS} />
        </span>
      </div>
      <ListTable
        name="teams"
        label="Teams"
        list={list}
        columns={COLUMNS}
        rowId={(team) => team.team_id}
        href={(team) => params.with({ open: team.team_id })}
        onOpen={(team) => show(team.team_id)}
        open={open}
        fresh={fresh}
        empty={
          filtered ? (
            <Empty title="No team is like this" actions={<Button onClick={() => params.set({ organization_id: undefined, search: undefined })}>Clear filters</Button>} />
          ) : (
            <Empty title="There are no teams yet" actions={create}>
              The keys of a team share its limits and its budget, and its members may create keys of their own.
            </Empty>
          )
        }
      />
      {creating && (
        <TeamDialog
          onClose={() => setCreating(false)}
          onDone={(team) => {
            setCreating(false)
            setFresh([team.team_id, ...fresh])
            show(team.team_id)
          }}
        />
      )}
    </Page>
  )
}

function Spent({ team, full = false }: { readonly team: Team; readonly full?: boolean }) {
  const { spend, max_budget, budget_duration } = team
  if (max_budget === null) return <>{money(spend)}</>
  return <Meter used={spend} of={max_budget} full={full} text={`${money(spend)} of ${budget(max_budget)}${budget_duration ? ` in ${budget_duration}` : ''}`} />
}

function TeamPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const read = useApi('GET /ui/api/teams/{team_id}', { params: { team_id: id } })
  const remove = useChange('DELETE /ui/api/teams/{team_id}', { refreshes: ['/ui/api/teams'] })
  const { data: team } = read
  const allowed = team && may('team.update', team)
  async function ask(): Promise<void> {
    const name = team?.team_name ?? id
    if (!(await confirmed({ title: `Delete ${name}?`, body: 'Its members lose their roles in it. A team that has keys is kept.', action: 'Delete', danger: true }))) return
    remove.mutate(
      { params: { team_id: id } },
      {
        onSuccess: () => {
          toast(`${name} is deleted.`)
          onClose()
        },
        onError: (error) => toast(error.message, { bad: true }),
      },
    )
  }
  return (
    <Panel
      title={team?.team_name ?? id}
      onClose={onClose}
      footer={
        allowed && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <Button kind="danger" busy={remove.isPending} onClick={ask}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded of={read}>
        {(one) => (
          <>
            <Section title="Budget" level={3}>
              <Spent team={one} full />
            </Section>
            <Section title="Limits" level={3}>
              <Facts
                of={[
                  ['Requests per minute', limit(one.rpm_limit)],
                  ['Requests per hour', limit(one.rph_limit)],
                  ['Requests per day', limit(one.rpd_limit)],
                  ['Tokens per minute', limit(one.tpm_limit)],
                  ['Tokens per day', limit(one.tpd_limit)],
                ]}
              />
            </Section>
            <Section title="About" level={3}>
              <Facts
                of={[
                  ['Id', <span class="row"><span class="mono">{one.team_id}</span><CopyButton text={one.team_id} label="Copy the id" /></span>],
                  ['Organization', <Entity id={one.organization_id} href={one.organization_id ? pathTo('organizations', { open: one.organization_id }) : undefined} />],
                  ['Own keys of members', one.self_service_keys_enabled ? 'on' : 'off'],
                  ['Created', <Ago at={one.created_at} />],
                  ['Changed', <Ago at={one.updated_at} />],
                ]}
              />
            </Section>
            {editing && <TeamDialog team={one} onClose={() => setEditing(false)} onDone={() => setEditing(false)} />}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

const limit = (value: number | null) => (value === null ? <span class="quiet">no limit</span> : value === 0 ? 'nothing' : count(value))

/** Creates a team, or changes one. */
function TeamDialog({ team, onClose, onDone }: { readonly team?: Team; readonly onClose: () => void; readonly onDone: (team: Team) => void }) {
  const form = useForm({
    team_name: team?.team_name ?? null,
    organization_id: team?.organization_id ?? null,
    max_budget: team?.max_budget ?? null,
    soft_budget: team?.soft_budget ?? null,
    budget_duration: team?.budget_duration ?? null,
    rpm_limit: team?.rpm_limit ?? null,
    tpm_limit: team?.tpm_limit ?? null,
    rpd_limit: team?.rpd_limit ?? null,
    self_service_keys_enabled: team?.self_service_keys_enabled ?? false,
  })
  const created = useChange('POST /ui/api/teams', { refreshes: ['/ui/api/teams'] })
  const changed = useChange('PATCH /ui/api/teams/{team_id}', { refreshes: ['/ui/api/teams'] })
  async function save(): Promise<void> {
    let written: Team | undefined
    const done = await form.submit(async () => {
      const body = form.changes()
      written = team
        ? await changed.mutateAsync({ params: { team_id: team.team_id }, body })
        : await created.mutateAsync({ body })
    })
    if (!done || !written) return
    toast(team ? 'Saved. It holds from the next call on.' : `${written.team_name ?? written.team_id} is created.`)
    onDone(written)
  }
  return (
    <Dialog title={team ? `Edit ${team.team_name ?? team.team_id}` : 'New team'} onClose={onClose} onSubmit={save} footer={<FormFoot form={form} save={team ? 'Save' : 'Create'} onCancel={onClose} always={!team} />}>
      <div class="fields">
        <TextField form={form} name="team_name" label="Name" nullable placeholder="Search quality" />
        {!team && <LookupField form={form} name="organization_id" label="Organization" lookup={lookups.organization} placeholder="None" />}
        <h3>Budget</h3>
        <LimitField form={form} name="max_budget" label="At most" unit="US dollars" />
        <div class="pair">
          <TextField form={form} name="budget_duration" label="Period" nullable placeholder="30d" hint="24h, 30d or 1mo; empty: it never resets." />
          <NumberField form={form} name="soft_budget" label="Warn at" unit="US dollars" min={0} />
        </div>
        <h3>Limits of all its keys together</h3>
        <LimitField form={form} name="rpm_limit" label="Requests per minute" unit="requests" />
        <LimitField form={form} name="tpm_limit" label="Tokens per minute" unit="tokens" />
        <LimitField form={form} name="rpd_limit" label="Requests per day" unit="requests" />
        <CheckField form={form} name="self_service_keys_enabled" label="Members may create keys of their own" />
      </div>
    </Dialog>
  )
}
