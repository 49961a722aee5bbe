import { useChange } from '../../data/change.ts'
import { api, type Row } from '../../data/client.ts'
import { useVersion } from '../../data/version.ts'
import { BudgetFields, budgetAndLimitsOf, LimitFields } from '../../design/form/budget-and-limits.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
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
  const form = useForm({ user_name: user.user_name, ...budgetAndLimitsOf(user) })
  const refreshes = ['/ui/api/users', '/ui/api/accounts']
  const change = useChange('PATCH /ui/api/users/{user_id}', { refreshes })
  const params = { user_id: user.user_id }
  const over = useVersion(user, refreshes, () => api('GET /ui/api/users/{user_id}', { params }))
  async function save(): Promise<void> {
    const saved = await form.submit(() =>
      over((version) => change.mutateAsync({ params, body: { ...form.changes(), version } })),
    )
    if (!saved) return
    toast('Saved. It applies from the next call on.')
    onClose()
  }
  return (
    <FormDialog form={form} title={`Budget and limits of ${name}`} save="Save" onSave={save} onClose={onClose}>
      <TextField form={form} name="user_name" label="Name" nullable placeholder="Ada Lovelace" />
      <h3>Budget</h3>
      <BudgetFields form={form} />
      <h3>Limits of all keys together</h3>
      <LimitFields form={form} />
    </FormDialog>
  )
}
