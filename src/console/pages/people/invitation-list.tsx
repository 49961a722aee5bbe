import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { lookups } from '../../data/lookups.ts'
import { usePages } from '../../data/paging.ts'
import { useParams } from '../../data/params.ts'
import { useScope } from '../../data/scope.ts'
import { may, useSession } from '../../data/session.ts'
import { State, type Tone } from '../../design/badge.tsx'
import { performed } from '../../design/confirmed.ts'
import { type Filter, Filters, filterQuery, SearchField } from '../../design/filters.tsx'
import { NoMatch } from '../../design/list/no-match.tsx'
import { Menu } from '../../design/menu.tsx'
import { Empty } from '../../design/states.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'
import { roleName, rolesToGive } from '../place/roles.ts'
import { LinksDialog } from './links-dialog.tsx'
import type { Invitation } from './person.ts'

const FILTERS: readonly Filter[] = [
  {
    name: 'state',
    label: 'State',
    choices: ['pending', 'accepted', 'expired', 'cancelled'].map((value) => ({ value, label: value })),
  },
  { name: 'organization_id', label: 'Organization', lookup: lookups.organization },
  { name: 'team_id', label: 'Team', lookup: lookups.team },
]

const COLUMNS: ReadonlyArray<Column<Invitation>> = [
  { id: 'email', label: 'Address', cell: ({ email }) => email },
  { id: 'to', label: 'To', priority: 2, cell: (one) => <To of={one} /> },
  {
    id: 'state',
    label: 'State',
    cell: ({ state }) => <State tone={state === 'expired' ? 'warn' : 'quiet'}>{state}</State>,
  },
  { id: 'mail', label: 'E-mail', priority: 2, cell: (one) => <Mail of={one} /> },
  {
    id: 'by',
    label: 'Invited by',
    priority: 3,
    cell: ({ invited_by, invited_by_email }) => invited_by_email ?? invited_by ?? 'master key',
  },
  {
    id: 'ends',
    label: 'Link ends',
    priority: 3,
    cell: ({ state, expires_at }) =>
      state === 'pending' || state === 'expired' ? <Ago at={expires_at} /> : <span class="quiet">–</span>,
  },
  { id: 'created', label: 'Invited', priority: 3, cell: ({ created_at }) => <Ago at={created_at} /> },
]

function To({ of }: { readonly of: Invitation }) {
  const { organization_id, organization_name, organization_role, team_id, team_name, team_role } = of
  const places = [
    organization_id && `${organization_name ?? organization_id} (${roleName(organization_role).toLowerCase()})`,
    team_id && `${team_name ?? team_id} (${roleName(team_role).toLowerCase()})`,
  ].filter(Boolean)
  if (places.length === 0) return <span class="quiet">the gateway alone</span>
  return (
    <span class="cut" title={places.join('\n')}>
      {places.join(', ')}
    </span>
  )
}

const MAIL: Readonly<Record<string, Tone>> = { queued: 'quiet', sent: 'quiet', failed: 'bad' }

function Mail({ of: { mail } }: { readonly of: Invitation }) {
  if (!mail) return <span class="quiet">passed on by hand</span>
  const { state, last_error, sent_at, attempts } = mail
  const why = last_error ?? undefined
  return (
    <State tone={state === 'queued' && attempts > 0 ? 'warn' : (MAIL[state] ?? 'quiet')} title={why}>
      {state} {state === 'sent' && <Ago at={sent_at} />}
      {state !== 'sent' && why && <span class="cut">{why}</span>}
    </State>
  )
}

export function InvitationList({
  fresh,
  invite,
}: {
  readonly fresh: readonly string[]
  readonly invite: ComponentChildren
}) {
  const params = useParams()
  const scope = useScope()
  const session = useSession()
  const [link, setLink] = useState<Invitation & { readonly invitation_url?: string }>()
  const query = { ...scope, ...filterQuery(params, FILTERS), search: params.get('search') || undefined }
  const list = usePages('GET /ui/api/invitations', { query }, { live: 10 })
  const resend = useChange('POST /ui/api/invitations/{invitation_id}/resend', { refreshes: ['/ui/api/invitations'] })
  const cancel = useChange('POST /ui/api/invitations/{invitation_id}/cancel', { refreshes: ['/ui/api/invitations'] })
  const failed = (error: Error) => toast(error.message, { bad: true })
  const filtered = Object.values(query).some(Boolean)

  /** Who might have made an invitation changes it. */
  function mayChange(one: Invitation): boolean {
    const { state, organization_id, organization_role, team_id, team_organization_id } = one
    if (state !== 'pending' && state !== 'expired') return false
    if (session.permissions.includes('user.update')) return true
    if (organization_id === null && team_id === null) return false
    const roles = rolesToGive(session, 'organization', organization_id)
    return (
      (organization_id === null || roles.some(({ value }) => value === organization_role)) &&
      (team_id === null || may(session, 'user.update', { team_id, organization_id: team_organization_id }))
    )
  }
  function sendAgain({ email, invitation_id }: Invitation): void {
    resend.mutate(
      { params: { invitation_id } },
      {
        onSuccess: (answer) => {
          if (answer.invitation_url) setLink(answer)
          else toast(`A new link is on its way to ${email}. The former one has ended.`)
        },
        onError: failed,
      },
    )
  }
  async function call({ email, invitation_id }: Invitation): Promise<void> {
    const question = {
      title: `Cancel the invitation of ${email}?`,
      body: 'The link that was sent ends at once. You can invite the person again.',
      action: 'Cancel the invitation',
      danger: true,
      done: `The invitation of ${email} is cancelled.`,
    }
    await performed(question, () => cancel.mutateAsync({ params: { invitation_id } }))
  }
  const columns: ReadonlyArray<Column<Invitation>> = [
    ...COLUMNS,
    {
      id: 'do',
      label: 'Actions',
      cell: (one) =>
        mayChange(one) ? (
          <Menu
            label={`Actions for ${one.email}`}
            icon="more"
            class="button plain small icon"
            items={[
              { label: one.mail ? 'Send a new link' : 'Make a new link', onSelect: () => sendAgain(one) },
              { label: 'Cancel the invitation', danger: true, onSelect: () => void call(one) },
            ]}
          />
        ) : null,
    },
  ]
  return (
    <>
      <div class="bar">
        <SearchField label="Search invitations" />
        <Filters filters={FILTERS} />
      </div>
      <ListTable
        name="invitations"
        label="Invitations"
        list={list}
        columns={columns}
        rowId={({ invitation_id }) => invitation_id}
        fresh={fresh}
        empty={
          filtered ? (
            <NoMatch
              title="No invitation matches"
              filters={['search', ...FILTERS.map(({ name }) => name)]}
              isInScope={Object.values(scope).some(Boolean)}
            />
          ) : (
            <Empty title="Nobody was invited yet" actions={invite}>
              A link is valid for 72 hours and works once. Without an e-mail service you pass it on yourself.
            </Empty>
          )
        }
      />
      {link && <LinksDialog outcomes={[{ email: link.email, invitation: link }]} onClose={() => setLink(undefined)} />}
    </>
  )
}
