import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Card, CardForm } from './card.tsx'

/** Requests a reset link. The answer does not reveal whether the account exists. */
export function Forgot() {
  const { data: config } = useApi('GET /auth/config')
  const [sent, setSent] = useState(false)
  const form = useForm({ email: '' }, { asks: false })
  async function ask(): Promise<void> {
    if (await form.submit(() => api('POST /auth/internal/forgot-password', { body: form.values }))) setSent(true)
  }
  return (
    <Card title="Forgot the password">
      {config && !config.email ? (
        <p>This gateway sends no mail. Ask an administrator to reset your password.</p>
      ) : sent ? (
        <p role="status">
          If {form.values.email} has an account with a password, a link to a new one is on its way
          {config?.email_from ? ` from ${config.email_from}` : ''}. It works for an hour.
        </p>
      ) : (
        <CardForm form={form} action="Send a link" onSubmit={ask}>
          <TextField form={form} name="email" label="E-mail" type="email" autoComplete="username" />
        </CardForm>
      )}
      <a href="/console/sign-in">Back to the sign-in</a>
    </Card>
  )
}
