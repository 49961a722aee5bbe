import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { useForm } from '../../design/form/form.tsx'
import { Loaded } from '../../design/states.tsx'
import { Card, CardForm, useSecretOfLink } from './card.tsx'
import { NewPassword } from './new-password.tsx'

/** A new password, by the link of a mail. */
export function Reset() {
  const token = useSecretOfLink({ isKept: true })
  const [done, setDone] = useState(false)
  const form = useForm({ new_password: '' }, { asks: false })
  const read = useApi('GET /auth/internal/reset-password/{token}', { params: { token: token || 'none' } })
  async function reset(): Promise<void> {
    const body = { token, new_password: form.values.new_password }
    if (await form.submit(() => api('POST /auth/internal/reset-password', { body }))) setDone(true)
  }
  return (
    <Card title="New password">
      {done ? (
        <p role="status">Your password is changed, and all your sessions have ended. Sign in with the new one.</p>
      ) : (
        <Loaded of={read}>
          {({ valid, email }) =>
            valid ? (
              <CardForm form={form} action="Change the password" onSubmit={reset}>
                {email && <p>For {email}</p>}
                <NewPassword form={form} name="new_password" email={email} />
              </CardForm>
            ) : (
              <p>
                This link was used already, or is too old. <a href="/console/forgot">Ask for another one</a>
              </p>
            )
          }
        </Loaded>
      )}
      <a href="/console/sign-in">To the sign-in</a>
    </Card>
  )
}
