import { useState } from 'preact/hooks'
import { api, send } from '../../data/client.ts'
import { queries, useApi } from '../../data/query.ts'
import { ButtonLink } from '../../design/button.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Loaded } from '../../design/states.tsx'
import { Card, CardForm, useSecretOfLink } from './card.tsx'
import { NewPassword } from './new-password.tsx'

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
              There are accounts already, so there is nothing to set up here. <a href="/console">To the console</a>
            </p>
          )
        }
      </Loaded>
    </Card>
  )
}

function FirstAdmin({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const form = useForm({ master_key: '', email: '', password: '' })
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
    if (done) onDone()
  }
  return (
    <>
      <p>This gateway has no account yet. The first one is its administrator's.</p>
      <CardForm form={form} action="Make the account" onSubmit={make}>
        {!token && (
          <TextField
            form={form}
            name="master_key"
            label="Master key"
            type="password"
            mono
            hint="As it was set up, or as the start of the gateway printed it."
          />
        )}
        <TextField form={form} name="email" label="E-mail" type="email" autoComplete="username" />
        <NewPassword form={form} name="password" email={form.values.email} />
      </CardForm>
    </>
  )
}

function NextSteps() {
  const go = (path: string) => ({
    href: path,
    onClick: () => void queries.resetQueries(),
  })
  return (
    <Card title="You are its administrator">
      <p>Two more steps lead to a first call. Both can wait.</p>
      <ol class="stack">
        <li>
          <a {...go('/console/deployments')}>Add a provider</a>, or use <span class="mono">echo</span>, which needs
          none.
        </li>
        <li>
          <a {...go('/console/keys')}>Make a key</a> and call the gateway with it; the call appears under Requests.
        </li>
      </ol>
      <ButtonLink kind="primary" {...go('/console')}>
        To the console
      </ButtonLink>
    </Card>
  )
}
