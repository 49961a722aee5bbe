import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { queries, useApi } from '../../data/query.ts'
import { sessionOpened, waitingForSession } from '../../data/signing-in.ts'
import { useStore } from '../../data/store.ts'
import { Button, ButtonLink } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'

/** The way in, as a page of its own. */
export function SignIn() {
  return (
    <div class="gate">
      <main>
        <h1>Sign in to the gateway</h1>
        <SignInForm onDone={() => queries.resetQueries()} />
      </main>
    </div>
  )
}

/** The way in over the page, where a session has ended: what was typed stays, and what was asked is asked again. */
export function SignInAgain() {
  const waiting = useStore(waitingForSession)
  if (waiting.length === 0) return null
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      <p>Sign in again to go on where you were.</p>
      <SignInForm onDone={sessionOpened} />
    </Dialog>
  )
}

function SignInForm({ onDone }: { readonly onDone: () => void }) {
  const config = useApi('GET /auth/config')
  const [byKey, setByKey] = useState(false)
  const form = useForm({ email: '', password: '', master_key: '' })
  const { email, password, master_key } = form.values
  const { sso } = config.data ?? {}
  async function enter(): Promise<void> {
    const done = await form.submit(() =>
      api('POST /auth/internal/login', { body: byKey ? { master_key } : { email, password } }),
    )
    if (done) onDone()
  }
  return (
    <form
      class="fields"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        enter()
      }}
    >
      {sso && !byKey && (
        <ButtonLink href={`/auth/login?next=${encodeURIComponent(location.pathname + location.search)}`}>
          Continue with {sso.label}
        </ButtonLink>
      )}
      {byKey ? (
        <TextField form={form} name="master_key" label="Master key" type="password" mono />
      ) : (
        <>
          <TextField form={form} name="email" label="E-mail" type="email" autoComplete="username" />
          <TextField form={form} name="password" label="Password" type="password" autoComplete="current-password" />
        </>
      )}
      {form.problem && (
        <p class="notice bad" role="alert">
          {form.problem}
        </p>
      )}
      <Button type="submit" kind="primary" busy={form.busy} class="wide">
        Sign in
      </Button>
      <Button kind="plain" onClick={() => setByKey(!byKey)}>
        {byKey ? 'Use an account' : 'Use the master key'}
      </Button>
    </form>
  )
}
