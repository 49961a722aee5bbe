import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { useVersion } from '../../data/version.ts'
import { Button } from '../../design/button.tsx'
import { CheckField, NumberField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { budget } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { toast } from '../../design/toast.tsx'
import type { Team } from './team.ts'

/** Whether developers of the team may make keys for themselves, and what those may be. */
export function OwnKeys({ of: team, mayChange }: { readonly of: Team; readonly mayChange: boolean }) {
  const [editing, setEditing] = useState(false)
  const days = team.self_service_max_expiry_days
  return (
    <Section
      title="Keys that members make for themselves"
      level={3}
      actions={
        mayChange && (
          <Button small onClick={() => setEditing(true)}>
            Change
          </Button>
        )
      }
    >
      {team.self_service_keys_enabled ? (
        <Facts
          of={[
            ['Allowed', 'yes, to developers and admins'],
            ['For each member', keys(team.self_service_max_keys_per_user)],
            ['Budget of a key', most(team.self_service_budget_ceiling)],
            [
              'End',
              days === null
                ? team.self_service_require_expiry
                  ? 'a key must have one'
                  : 'a key may live for ever'
                : `within ${days} ${days === 1 ? 'day' : 'days'}`,
            ],
          ]}
        />
      ) : (
        <p class="quiet">Off: only administrators of the team make keys in it.</p>
      )}
      {editing && <OwnKeysDialog team={team} onClose={() => setEditing(false)} />}
    </Section>
  )
}

const keys = (most: number | null) => (most === null ? 'any number' : most === 1 ? 'one key' : `at most ${most} keys`)
const most = (ceiling: number | null) => (ceiling === null ? 'any' : `at most ${budget(ceiling)}`)

function OwnKeysDialog({ team, onClose }: { readonly team: Team; readonly onClose: () => void }) {
  const form = useForm({
    self_service_keys_enabled: team.self_service_keys_enabled,
    self_service_max_keys_per_user: team.self_service_max_keys_per_user,
    self_service_budget_ceiling: team.self_service_budget_ceiling,
    self_service_require_expiry: team.self_service_require_expiry,
    self_service_max_expiry_days: team.self_service_max_expiry_days,
  })
  const refreshes = ['/ui/api/teams']
  const changed = useChange('PATCH /ui/api/teams/{team_id}', { refreshes })
  const params = { team_id: team.team_id }
  const over = useVersion(team, refreshes, () => api('GET /ui/api/teams/{team_id}', { params }))
  async function save(): Promise<void> {
    const done = await form.submit(() =>
      over((version) => changed.mutateAsync({ params, body: { ...form.changes(), version } })),
    )
    if (!done) return
    toast('Saved. It applies to keys that are made from now on.')
    onClose()
  }
  return (
    <FormDialog
      form={form}
      title={`Own keys of members of ${team.team_name ?? team.team_id}`}
      save="Save"
      onSave={save}
      onClose={onClose}
    >
      <CheckField form={form} name="self_service_keys_enabled" label="Members may make keys of their own" />
      <div class="pair">
        <NumberField
          form={form}
          name="self_service_max_keys_per_user"
          label="For each member, at most"
          unit="keys"
          min={0}
          step={1}
          hint="Empty: any number."
        />
        <NumberField
          form={form}
          name="self_service_budget_ceiling"
          label="Budget of a key, at most"
          unit="US dollars"
          min={0}
          hint="Empty: any."
        />
      </div>
      <CheckField form={form} name="self_service_require_expiry" label="A key must have an end" />
      <NumberField
        form={form}
        name="self_service_max_expiry_days"
        label="It ends within"
        unit="days"
        min={1}
        step={1}
        hint="Empty: any time."
      />
    </FormDialog>
  )
}
