import { useChange } from '../../data/change.ts'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { toast } from '../../design/toast.tsx'
import type { Person } from './person.ts'

/** Gives an account the address by which its person signs in from then on. */
export function AddressDialog({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const form = useForm({ email: person.email })
  const change = useChange('PATCH /ui/api/accounts/{account_id}', { refreshes: ['/ui/api/accounts', '/ui/api/users'] })
  async function save(): Promise<void> {
    const { account_id } = person
    if (!(await form.submit(() => change.mutateAsync({ params: { account_id }, body: form.changes() })))) return
    toast(`The address is ${form.values.email} now.`)
    onClose()
  }
  return (
    <FormDialog form={form} title={`Another address for ${person.email}`} save="Change" onSave={save} onClose={onClose}>
      <TextField
        form={form}
        name="email"
        label="E-mail address"
        hint="The person signs in with it at once. Links to a new password that were made before end, and single sign-on links it only once it is confirmed."
      />
    </FormDialog>
  )
}
