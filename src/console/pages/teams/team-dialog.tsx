import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { lookups } from '../../data/lookups.ts'
import { useSession } from '../../data/session.ts'
import { useVersion } from '../../data/version.ts'
import { BudgetFields, budgetAndLimitsOf, LimitFields } from '../../design/form/budget-and-limits.tsx'
import { CheckField, LookupField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { toast } from '../../design/toast.tsx'
import { useBounds } from '../place/bounds.ts'
import type { Team } from './team.ts'

/** Creates a team, or changes one. */
export function TeamDialog({
  team,
  onClose,
  onDone,
}: {
  readonly team?: Team
  readonly onClose: () => void
  readonly onDone: (team: Team) => void
}) {
  const session = useSession()
  const homes = session.organizations.filter(({ permissions }) => permissions.includes('team.update'))
  const anywhere = session.permissions.includes('team.update')
  const [home] = anywhere || homes.length > 1 ? [] : homes
  const form = useForm({
    team_name: team?.team_name ?? null,
    organization_id: team ? team.organization_id : (home?.id ?? null),
    ...budgetAndLimitsOf(team),
    self_service_keys_enabled: team?.self_service_keys_enabled ?? false,
  })
  const bounds = useBounds({ organization_id: form.values.organization_id })
  const refreshes = ['/ui/api/teams']
  const created = useChange('POST /ui/api/teams', { refreshes })
  const changed = useChange('PATCH /ui/api/teams/{team_id}', { refreshes })
  const params = { team_id: team?.team_id ?? '' }
  const over = useVersion(team, refreshes, () => api('GET /ui/api/teams/{team_id}', { params }))
  async function save(): Promise<void> {
    let written: Team | undefined
    const done = await form.submit(async () => {
      const { organization_id } = form.values
      if (!team && !anywhere && organization_id === null)
        throw Object.assign(new Error('Choose one of your organizations.'), { param: 'organization_id' })
      const body = team ? form.changes() : { ...form.changes(), organization_id }
      written = team
        ? await over((version) => changed.mutateAsync({ params, body: { ...body, version } }))
        : await created.mutateAsync({ body })
    })
    if (!done || !written) return
    toast(team ? 'Saved. It applies from the next call on.' : `${written.team_name ?? written.team_id} is created.`)
    onDone(written)
  }
  return (
    <FormDialog
      form={form}
      title={team ? `Edit ${team.team_name ?? team.team_id}` : 'New team'}
      save={team ? 'Save' : 'Create'}
      onSave={save}
      onClose={onClose}
      always={!team}
    >
      <TextField form={form} name="team_name" label="Name" nullable placeholder="Search quality" />
      {!team && (
        <LookupField
          form={form}
          name="organization_id"
          label="Organization"
          {...(anywhere
            ? { lookup: lookups.organization, placeholder: 'None' }
            : { choices: homes.map(({ id, name }) => ({ value: id, label: name ?? id })) })}
        />
      )}
      <h3>Budget</h3>
      <BudgetFields form={form} bounds={bounds} />
      <h3>Limits of all its keys together</h3>
      <LimitFields form={form} bounds={bounds} />
      <CheckField form={form} name="self_service_keys_enabled" label="Members may create keys of their own" />
    </FormDialog>
  )
}
