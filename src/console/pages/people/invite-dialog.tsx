import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { type Lookup, lookups } from '../../data/lookups.ts'
import { refresh } from '../../data/query.ts'
import { may, useSession } from '../../data/session.ts'
import { among } from '../../design/form/combobox.tsx'
import { LookupField, SelectField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { toast } from '../../design/toast.tsx'
import { explained, type OrganizationRole, rolesToGive, TEAM_ROLES, type TeamRole } from '../place/roles.ts'
import { LinksDialog, type Outcome } from './links-dialog.tsx'
import { addressesIn } from './person.ts'

/** Invites one or many to the same place. */
export function InviteDialog({
  onClose,
  onDone,
}: {
  readonly onClose: () => void
  readonly onDone: (invitationIds: readonly string[]) => void
}) {
  const session = useSession()
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>()
  const everywhere = session.permissions.includes('user.update')
  const organizations = session.organizations.filter(({ permissions }) => permissions.includes('user.update'))
  const teams = session.teams.filter(({ permissions }) => permissions.includes('user.update'))
  const form = useForm({
    email: '',
    organization_id: organizations.length === 1 ? (organizations[0]?.id ?? null) : null,
    organization_role: 'org_member',
    team_id: organizations.length === 0 && teams.length === 1 ? (teams[0]?.id ?? null) : null,
    team_role: 'team_developer',
  })
  const { organization_id, team_id } = form.values
  const teamsThere: Lookup = {
    ...lookups.team,
    async search(search) {
      const own = await among(teams.map(({ id, name }) => ({ value: id, label: name ?? id })))(search)
      if (!everywhere && organizations.length === 0) return own
      const { data } = await api('GET /ui/api/teams', {
        query: { search, organization_id: organization_id ?? undefined, limit: 50 },
      })
      return data
        .filter((team) => may(session, 'user.update', team))
        .map((team) => ({
          value: team.team_id,
          label: team.team_name ?? team.team_id,
          note: team.organization_name ?? undefined,
        }))
    },
  }
  const places = {
    ...form,
    set(name: keyof typeof form.values, value: never) {
      form.set(name, value)
      // A team of another organization is none of this one.
      if (name === 'organization_id' && value !== organization_id) form.set('team_id', null)
    },
  } as typeof form

  async function invite(): Promise<void> {
    const addresses = addressesIn(form.values.email)
    const made: Outcome[] = []
    const done = await form.submit(async () => {
      let first: unknown
      for (const email of addresses.length > 0 ? addresses : ['']) {
        try {
          const invitation = await api('POST /ui/api/invitations', {
            body: {
              email,
              ...(organization_id && {
                organization_id,
                organization_role: form.values.organization_role as OrganizationRole,
              }),
              ...(team_id && { team_id, team_role: form.values.team_role as TeamRole }),
            },
          })
          made.push({ email, invitation })
        } catch (error) {
          first ??= error
          made.push({ email, problem: (error as Error).message })
        }
      }
      if (first && made.every(({ problem }) => problem !== undefined)) throw first
    })
    if (!done) return
    await refresh('/ui/api/invitations')
    onDone(made.flatMap(({ invitation }) => (invitation ? [invitation.invitation_id] : [])))
    if (made.some(({ problem, invitation }) => problem !== undefined || invitation?.invitation_url)) {
      setOutcomes(made)
      return
    }
    toast(made.length === 1 ? `${made[0]?.email} is invited.` : `${made.length} people are invited.`)
    onClose()
  }
  if (outcomes) return <LinksDialog outcomes={outcomes} onClose={onClose} />
  const count = addressesIn(form.values.email).length
  return (
    <FormDialog
      form={form}
      title="Invite people"
      save={count > 1 ? `Invite ${count}` : 'Invite'}
      onSave={invite}
      onClose={onClose}
      always
    >
      <TextField
        form={form}
        name="email"
        label="E-mail addresses"
        lines={3}
        placeholder="ada@example.com"
        hint="One a line, or with commas between them."
      />
      {(everywhere || organizations.length > 0) && (
        <div class="pair">
          <LookupField
            form={places}
            name="organization_id"
            label="Organization"
            {...(everywhere
              ? { lookup: lookups.organization, placeholder: 'None' }
              : { choices: organizations.map(({ id, name }) => ({ value: id, label: name ?? id })) })}
          />
          {organization_id && (
            <SelectField
              form={form}
              name="organization_role"
              label="Role in the organization"
              options={explained(rolesToGive(session, 'organization', organization_id))}
            />
          )}
        </div>
      )}
      <div class="pair">
        <LookupField
          key={organization_id ?? ''}
          form={form}
          name="team_id"
          label="Team"
          lookup={teamsThere}
          placeholder="None"
        />
        {team_id && (
          <SelectField form={form} name="team_role" label="Role in the team" options={explained(TEAM_ROLES)} />
        )}
      </div>
    </FormDialog>
  )
}
