import { useState } from 'preact/hooks'
import { api, send } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Loaded } from '../../design/states.tsx'
import { askLater } from '../suggested.ts'
import { Card, CardForm, useSecretOfLink } from './card.tsx'
import { NewPassword } from './new-password.tsx'
import { NextSteps } from './next-steps.tsx'

/** The first administrator, by the link of the greeting or by the master key, while there is no account. */
export function Welcome() {
  const token = useSecretOfLink()
  const read = useApi('GET /auth/config')
  const [made, setMade] = useState(false)
  if (made) return <NextSteps />
  return (
    <Card title="Welcome">
      <Loaded of={read}>
        {({ first_run }) =>
          first_run ? (
            <FirstAdmin token={token} onDone={() => setMade(true)} />
          ) : (
            <p>
              There is an account already, so there is nothing to set up here. <a href="/console">To the console</a>
            </p>
          )
        }
      </Loaded>
    </Card>
  )
}

function FirstAdmin({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const form = useForm({ master_key: '', email: '', password: '' }, { asks: false })
  async function make(): Promise<void> {
    const { master_key, email, password } = form.values
    const done = await form.submit(() =>
      token
        ? api('POST /auth/bootstrap', { body: { token, email, password } })
        : send('/auth/bootstrap', {
            method: 'POST',
            headers: { authorization: `Bearer ${master_key.trim()}`, 'content-type': 'application/json' },
            body: JSON.stringify({ email, password }),
          }),
    )
    if (!done) return
    askLater()
    onDone()
  }
  return (
    <>
      <p>This gateway has no account yet. The first account becomes its administrator.</p>
      <CardForm form={form} action="Make the account" onSubmit={make}>
        {!token && (
          <TextField
            form={form}
            name="master_key"
            label="Master key"
            type="password"
            mono
            hint="The one that you configured, or that the start of the gateway printed."
          />
        )}
        <TextField form={form} name="email" label="E-mail" type="email" autoComplete="username" />
        <NewPassword form={form} name="password" email={form.values.email} />
      </CardForm>
    </>
  )
}
