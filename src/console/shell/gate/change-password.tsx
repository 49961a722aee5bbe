import { api } from '../../data/client.ts'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { CardForm } from './card.tsx'
import { NewPassword } from './new-password.tsx'

export function ChangePassword({ email, onDone }: { readonly email: string | null; readonly onDone: () => void }) {
  const form = useForm({ current_password: '', new_password: '' }, { asks: false })
  async function change(): Promise<void> {
    if (await form.submit(() => api('POST /auth/internal/change-password', { body: form.values }))) onDone()
  }
  return (
    <CardForm form={form} action="Change the password" onSubmit={change}>
      <input
        type="email"
        class="visually-hidden"
        autoComplete="username"
        value={email ?? ''}
        tabIndex={-1}
        aria-hidden
        readOnly
      />
      <TextField
        form={form}
        name="current_password"
        label="Present password"
        type="password"
        autoComplete="current-password"
      />
      <NewPassword form={form} name="new_password" email={email} />
    </CardForm>
  )
}
