import { callableNames } from '../../data/callable-names.ts'
import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { lookups } from '../../data/lookups.ts'
import { refresh } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { useVersion } from '../../data/version.ts'
import { BudgetFields, budgetAndLimitsOf, LimitFields } from '../../design/form/budget-and-limits.tsx'
import { CheckField, LookupField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { LimitField } from '../../design/form/limit-field.tsx'
import { NamesField } from '../../design/form/names-field.tsx'
import { toast } from '../../design/toast.tsx'
import { ExpiryField } from '../key/expiry-field.tsx'
import { type Key, nameOf, PARALLEL } from '../key/key.ts'
import type { MadeKey } from '../key/key-made.tsx'
import { type Access, isRestricted } from '../place/access-rule.tsx'
import { useBounds } from '../place/bounds.ts'
import { ModelBudgets } from './model-budgets.tsx'
import { TeamModels } from './team-models.tsx'

const models = callableNames('target')
const labels = callableNames('access_group')

/** Makes a key, as it is or after the model of another one; or changes one. */
export function KeyDialog({
  edited,
  like = edited,
  access,
  onClose,
  onMade,
}: {
  readonly edited?: Key
  /** What the form begins with. */
  readonly like?: Key | undefined
  /** What that key may call. */
  readonly access?: Access | undefined
  readonly onClose: () => void
  readonly onMade?: (made: MadeKey) => void
}) {
  const may = useMay()
  const rule = access && isRestricted(access) ? access : undefined
  const form = useForm({
    key_name: edited ? edited.key_name : like ? `${nameOf(like)} copy` : null,
    team_id: like?.team_id ?? null,
    organization_id: like?.organization_id ?? null,
    user_id: like?.user_id ?? null,
    ...budgetAndLimitsOf(like),
    max_parallel_requests: like?.max_parallel_requests ?? null,
    model_max_budget: like?.model_max_budget ?? {},
    allowed_ips: like?.allowed_ips?.join('\n') ?? null,
    turn_off_message_logging: like?.turn_off_message_logging ?? false,
    no_log_allowed: like?.no_log_allowed ?? true,
    metadata: jsonOf(like?.metadata),
    expires_at: edited?.expires_at ?? null,
    models: (rule?.models ?? []) as readonly string[],
    access_groups: (rule?.access_groups ?? []) as readonly string[],
  })
  const bounds = useBounds(form.values)
  const refreshes = ['/ui/api/keys']
  const created = useChange('POST /ui/api/keys')
  const changed = useChange('PATCH /ui/api/keys/{key_id}', { refreshes })
  const edits = { key_id: edited?.key_id ?? '' }
  const over = useVersion(edited, refreshes, () => api('GET /ui/api/keys/{key_id}', { params: edits }))

  async function save(): Promise<void> {
    let made: MadeKey | undefined
    const done = await form.submit(async () => {
      const { models: only, access_groups: labelled, ...typed } = edited ? form.changes() : form.values
      const { allowed_ips: ips, metadata, ...others } = typed
      const addresses = ips === undefined ? {} : { allowed_ips: linesOf(ips) }
      const values = metadata === undefined ? others : { ...others, metadata: objectOf(metadata) }
      if (edited) {
        await over((version) => changed.mutateAsync({ params: edits, body: { ...values, ...addresses, version } }))
        return
      }
      // A team's key is in the organization of its team.
      const { organization_id: home, ...rest } = values
      const place = values.team_id ? {} : { organization_id: home ?? null }
      made = await created.mutateAsync({ body: { ...rest, ...place, ...addresses } })
      const names = [...(only ?? []), ...(labelled ?? [])]
      // The copy of a key that may call nothing may call nothing.
      const isClosed = rule !== undefined && rule.models.length + rule.access_groups.length === 0
      if (names.length > 0 || isClosed) await restrict(made, only ?? [], labelled ?? [])
      await refresh(...refreshes)
    })
    if (!done) return
    if (made) onMade?.(made)
    else toast('Saved. It applies from the next call on.')
    onClose()
  }
  return (
    <FormDialog
      form={form}
      title={edited ? `Edit ${nameOf(edited)}` : 'New key'}
      save={edited ? 'Save' : 'Create'}
      onSave={save}
      onClose={onClose}
      always={!edited}
    >
      <TextField form={form} name="key_name" label="Name" nullable placeholder="build-server" />
      {!edited && (
        <div class="pair">
          <LookupField form={form} name="team_id" label="Team" lookup={lookups.team} placeholder="None" />
          {form.values.team_id === null && may('org.read') && (
            <LookupField
              form={form}
              name="organization_id"
              label="Organization"
              lookup={lookups.organization}
              placeholder="None"
            />
          )}
        </div>
      )}
      {may('user.read') && (
        <LookupField
          form={form}
          name="user_id"
          label="Counts against the person"
          lookup={lookups.user}
          placeholder="Nobody"
          hint="Their limits and budget then hold as well as the key's own."
        />
      )}
      <ExpiryField form={form} />
      {!edited && (
        <NamesField
          form={form}
          name="models"
          label="Only these models"
          search={models}
          placeholder="All that its team may call"
        />
      )}
      {rule && rule.access_groups.length > 0 && (
        <NamesField form={form} name="access_groups" label="And those with these labels" search={labels} />
      )}
      {!edited && form.values.team_id && <TeamModels teamId={form.values.team_id} chosen={form.values.models} />}
      <h3>Budget</h3>
      <BudgetFields form={form} bounds={bounds} />
      <ModelBudgets form={form} />
      <h3>Limits</h3>
      <LimitFields form={form} bounds={bounds} />
      <LimitField form={form} name="max_parallel_requests" label={PARALLEL.label} unit={PARALLEL.unit} />
      <h3>Addresses and content</h3>
      <TextField
        form={form}
        name="allowed_ips"
        label="Allowed addresses"
        lines={3}
        nullable
        mono
        placeholder="10.0.0.0/8"
        hint="One address or range a line; empty: any."
      />
      <CheckField form={form} name="turn_off_message_logging" label="Send no content of its calls to any sink" />
      <CheckField
        form={form}
        name="no_log_allowed"
        label="A request may ask for that by x-gateway-no-log"
        hint="Off: its callers cannot ask for that."
      />
      <TextField
        form={form}
        name="metadata"
        label="Metadata"
        lines={3}
        nullable
        mono
        placeholder={'{"cost_center": "4711"}'}
        hint="Any JSON object, kept with the key."
      />
    </FormDialog>
  )
}

/** The key is there by now: that it could not be restricted is told, and does not undo it. */
async function restrict({ key_id }: MadeKey, only: readonly string[], labelled: readonly string[]): Promise<void> {
  await api('PUT /ui/api/keys/{key_id}/model-access', {
    params: { key_id },
    body: { mode: 'restrict', models: [...only], access_groups: [...labelled] },
  }).catch((error: Error) => toast(`It may call every model of its team: ${error.message}`, { bad: true }))
}

const jsonOf = (metadata: Key['metadata'] | undefined): string | null =>
  metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata, null, 2) : null

/** What was typed as JSON; nothing is an empty object. */
function objectOf(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Told below, as what is JSON and no object.
  }
  throw Object.assign(new Error('must be a JSON object, such as {"cost_center": "4711"}'), { param: 'metadata' })
}

function linesOf(text: string | null): string[] | null {
  const lines = (text ?? '').split(/[\s,]+/).filter(Boolean)
  return lines.length > 0 ? lines : null
}
