import type { Row } from '../../data/client.ts'
import { useChange } from '../../data/query.ts'
import { Dialog } from '../../design/dialog.tsx'
import { FormFoot, NumberField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { LimitField } from '../../design/form/limit-field.tsx'
import { toast } from '../../design/toast.tsx'

/** What a person is called, may spend and may ask for, with all keys together. */
export function UserDialog({
  user,
  name,
  onClose,
}: {
  readonly user: Row<'GET /ui/api/users'>
  readonly name: string
  readonly onClose: () => void
}) {
  const { user_name, max_budget, soft_budget, budget_duration, rpm_limit, tpm_limit, rpd_limit } = user
  const form = useForm({ user_name, max_budget, soft_budget, budget_duration, rpm_limit, tpm_limit, rpd_limit })
  const change = useChange('PATCH /ui/api/users/{user_id}', { refreshes: ['/ui/api/users', '/ui/api/accounts'] })
  async function save(): Promise<void> {
    const saved = await form.submit(() =>
      change.mutateAsync({ params: { user_id: user.user_id }, body: form.changes() }),
    )
    if (!saved) return
    toast('Saved. It holds from the next call on.')
    onClose()
  }
  return (
    <Dialog
      title={`Budget and limits of ${name}`}
      onClose={onClose}
      onSubmit={save}
      footer={<FormFoot form={form} save="Save" onCancel={onClose} />}
    >
      <div class="fields">
        <TextField form={form} name="user_name" label="Name" nullable placeholder="Ada Lovelace" />
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
        <h3>Limits of all keys together</h3>
        <LimitField form={form} name="rpm_limit" label="Requests per minute" unit="requests" />
        <LimitField form={form} name="tpm_limit" label="Tokens per minute" unit="tokens" />
        <LimitField form={form} name="rpd_limit" label="Requests per day" unit="requests" />
      </div>
    </Dialog>
  )
}
