import { useChange } from '../../data/change.ts'
import { NumberField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { budget, count } from '../../design/format.ts'
import { period } from '../../design/time-words.ts'
import { ExpiryField, inDays } from '../key/expiry-field.tsx'
import { KEY_LIMITS } from '../key/key.ts'
import type { MadeKey } from '../key/key-made.tsx'
import type { Team } from './allowance.ts'

/** Makes a key of one's own, within what the team allows: its ceilings stand at their fields. */
export function OwnKeyDialog({
  team,
  onClose,
  onMade,
}: {
  readonly team: Team
  readonly onClose: () => void
  readonly onMade: (made: MadeKey) => void
}) {
  const { self_service_budget_ceiling: ceiling, self_service_max_expiry_days: days } = team
  const mustEnd = team.self_service_require_expiry || days !== null
  const form = useForm({
    key_name: null as string | null,
    max_budget: ceiling,
    expires_at: mustEnd ? inDays(Math.min(30, days ?? 30)) : null,
    rpm_limit: null as number | null,
    rph_limit: null as number | null,
    rpd_limit: null as number | null,
    tpm_limit: null as number | null,
    tpd_limit: null as number | null,
    max_parallel_requests: null as number | null,
  })
  const created = useChange('POST /ui/api/keys', { refreshes: ['/ui/api/keys', '/ui/api/teams'] })
  async function save(): Promise<void> {
    let made: MadeKey | undefined
    const done = await form.submit(async () => {
      made = await created.mutateAsync({ body: { ...form.values, owner: 'me', team_id: team.team_id } })
    })
    if (!done || !made) return
    onMade(made)
    onClose()
  }
  const within = team.budget_duration ? ` in ${period(team.budget_duration)}` : ', for good'
  return (
    <FormDialog
      form={form}
      title={`New key in ${team.team_name ?? team.team_id}`}
      save="Create"
      onSave={save}
      onClose={onClose}
      always
    >
      <TextField form={form} name="key_name" label="Name" nullable placeholder="notebook" />
      <NumberField
        form={form}
        name="max_budget"
        label="Spends at most"
        unit={`US dollars${ceiling === null ? '' : within}`}
        min={0}
        {...(ceiling === null ? {} : { max: ceiling })}
        placeholder="no limit of its own"
        hint={ceiling === null ? undefined : `The team allows ${budget(ceiling)} for each key.`}
      />
      <ExpiryField
        form={form}
        within={days}
        required={mustEnd}
        hint={
          days !== null
            ? `The team asks for an end within ${days} days.`
            : mustEnd
              ? 'The team asks for an end.'
              : undefined
        }
      />
      <h3>Limits of its own</h3>
      <div class="pair">
        {KEY_LIMITS.map(({ name, label, unit }) => {
          const most = name === 'max_parallel_requests' ? null : team[name]
          return (
            <NumberField
              key={name}
              form={form}
              name={name}
              label={label}
              unit={unit}
              min={0}
              {...(most === null ? {} : { max: most })}
              placeholder="none"
              hint={most === null ? undefined : `The team has ${count(most)} for all its keys.`}
            />
          )
        })}
      </div>
    </FormDialog>
  )
}
