import { lookups } from '../../data/lookups.ts'
import { useChange } from '../../data/query.ts'
import { Dialog } from '../../design/dialog.tsx'
import { BudgetFields, budgetAndLimitsOf, LimitFields } from '../../design/form/budget-and-limits.tsx'
import { CheckField, FormFoot, LookupField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { toast } from '../../design/toast.tsx'
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
  const form = useForm({
    team_name: team?.team_name ?? null,
    organization_id: team?.organization_id ?? null,
    ...budgetAndLimitsOf(team),
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
    <Dialog
      title={team ? `Edit ${team.team_name ?? team.team_id}` : 'New team'}
      onClose={onClose}
      onSubmit={save}
      footer={<FormFoot form={form} save={team ? 'Save' : 'Create'} onCancel={onClose} always={!team} />}
    >
      <div class="fields">
        <TextField form={form} name="team_name" label="Name" nullable placeholder="Search quality" />
        {!team && (
          <LookupField
            form={form}
            name="organization_id"
            label="Organization"
            lookup={lookups.organization}
            placeholder="None"
          />
        )}
        <h3>Budget</h3>
        <BudgetFields form={form} />
        <h3>Limits of all its keys together</h3>
        <LimitFields form={form} />
        <CheckField form={form} name="self_service_keys_enabled" label="Members may create keys of their own" />
      </div>
    </Dialog>
  )
}
