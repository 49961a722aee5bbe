import { lookups } from '../../data/lookups.ts'
import { useChange } from '../../data/query.ts'
import { Dialog } from '../../design/dialog.tsx'
import { CheckField, FormFoot, LookupField, NumberField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { LimitField } from '../../design/form/limit-field.tsx'
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
        <LimitField form={form} name="max_budget" label="At most" unit="US dollars" />
        <div class="pair">
          <TextField
            form={form}
            name="budget_duration"
            label="Period"
            nullable
            placeholder="30d"
            hint="24h, 30d or 1mo; empty: it never resets."
          />
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
