import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api } from '../../data/client.ts'
import { useParams } from '../../data/params.ts'
import { queries, useApi } from '../../data/query.ts'
import { Button, ButtonLink } from '../../design/button.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { anyUnsaved } from '../../design/form/unsaved.ts'
import { Card, CardForm } from './card.tsx'
import { VerifyForm } from './verify.tsx'

/** What single sign-on says when it fails, by its code. */
const PROBLEMS: Readonly<Record<string, string>> = {
  account_disabled: 'Your account is switched off. Ask an administrator of this gateway.',
  address_taken:
    'The account with your address belongs to somebody else at your organization. Ask an administrator of this gateway.',
  not_invited: 'Nobody has invited your address. Ask an administrator of this gateway.',
  provider_refused: 'The sign-in page of your organization did not let you in.',
  provider_unreachable: 'The sign-in page of your organization cannot be reached. Try again in a minute.',
  state_expired: 'Signing in took too long, or was begun in another window. Try again.',
  store_away: 'Single sign-on is off for a moment. Try again in a minute, or sign in with a password.',
  unproved_email:
    'You have an account here, but nothing has shown yet that your address is its own. Sign in with its password, or ask an administrator to confirm the address.',
  unverified_email: 'Your organization has not confirmed your e-mail address. Confirm it there, and try again.',
}

/** The way in, as a page of its own. Afterwards the address that was asked for is shown. */
export function SignIn() {
  const params = useParams()
  const { route, path } = useLocation()
  const problem = params.get('problem')
  const next = params.get('next')
  async function entered(): Promise<void> {
    if (path === '/console/sign-in') route(/^\/console(?:[/?]|$)/.test(next) ? next : '/console', true)
    await queries.resetQueries()
  }
  return (
    <Card title="Sign in to the gateway">
      {problem && (
        <p class="notice bad" role="alert">
          {PROBLEMS[problem] ?? 'Single sign-on has failed. Try again.'}
        </p>
      )}
      <SignInForm onDone={entered} next={path === '/console/sign-in' ? next || '/console' : path + location.search} />
    </Card>
  )
}

export function SignInForm({
  onDone,
  next,
  isOver = false,
  lacksFactor = false,
}: {
  readonly onDone: () => void
  readonly next: string
  /** It lies over a page, whose input must not be lost on the way to an identity provider. */
  readonly isOver?: boolean
  /** There is a session, whose second factor is not proved. */
  readonly lacksFactor?: boolean
}) {
  const config = useApi('GET /auth/config')
  const [byKey, setByKey] = useState(false)
  const [half, setHalf] = useState(false)
  const form = useForm({ email: '', password: '', master_key: '' }, { asks: false })
  const { email, password, master_key } = form.values
  const { sso, first_run, email: hasMail } = config.data ?? {}
  if (half || lacksFactor) return <VerifyForm onDone={onDone} />
  async function enter(): Promise<void> {
    let standing: string | undefined
    const done = await form.submit(async () => {
      const body = byKey ? { master_key } : { email, password }
      standing = (await api('POST /auth/internal/login', { body })).standing
    })
    if (done && standing === 'unverified') setHalf(true)
    else if (done) onDone()
  }
  return (
    <>
      {first_run && (
        <p class="notice info">
          <span>
            Nobody has an account yet. <a href="/console/welcome">Make the first one</a>
          </span>
        </p>
      )}
      {sso && !byKey && (
        <ButtonLink
          href={`/auth/login?next=${encodeURIComponent(next)}`}
          {...(isOver && anyUnsaved() && { target: '_blank' })}
        >
          Continue with {sso.label}
        </ButtonLink>
      )}
      <CardForm form={form} action="Sign in" onSubmit={enter}>
        {byKey ? (
          <TextField form={form} name="master_key" label="Master key" type="password" mono />
        ) : (
          <>
            <TextField form={form} name="email" label="E-mail" type="email" autoComplete="username" />
            <TextField form={form} name="password" label="Password" type="password" autoComplete="current-password" />
          </>
        )}
      </CardForm>
      <div class="row">
        <Button kind="plain" small onClick={() => setByKey(!byKey)}>
          {byKey ? 'Use an account' : 'Use the master key'}
        </Button>
        {!byKey && hasMail && (
          <ButtonLink kind="plain" small href="/console/forgot">
            Forgot the password?
          </ButtonLink>
        )}
      </div>
      {!byKey && config.data && !hasMail && (
        <p class="quiet small">A forgotten password is reset by an administrator: this gateway sends no mail.</p>
      )}
    </>
  )
}
