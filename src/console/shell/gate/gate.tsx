import { useLocation } from 'preact-iso/router'
import { type Answer, api } from '../../data/client.ts'
import { queries } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { Card } from './card.tsx'
import { ChangePassword } from './change-password.tsx'
import { Enrolment } from './enrolment.tsx'
import { Forgot } from './forgot.tsx'
import { Invitation } from './invitation.tsx'
import { Reset } from './reset.tsx'
import { SignIn } from './sign-in.tsx'
import { VerifyForm } from './verify.tsx'
import { Welcome } from './welcome.tsx'

/** Everything before the console: each state is one card, and the console begins after the last. */
export function Gate({ session }: { readonly session: Answer<'GET /auth/me'> }) {
  const { path } = useLocation()
  const on = () => void queries.resetQueries()
  switch (path.replace(/\/$/, '')) {
    case '/console/invite':
      return <Invitation />
    case '/console/reset':
      return <Reset />
    case '/console/forgot':
      return <Forgot />
    case '/console/welcome':
      return <Welcome />
  }
  if (!session.authenticated) return <SignIn />
  if (session.standing === 'unverified') {
    return (
      <Card title="Your second factor">
        <VerifyForm onDone={on} />
        <SignOut />
      </Card>
    )
  }
  if (session.standing === 'password_expired') {
    return (
      <Card title="Choose a new password">
        <p>Your password was set by somebody else. From now on only you know it.</p>
        <ChangePassword email={session.email} onDone={on} />
        <SignOut />
      </Card>
    )
  }
  return (
    <Card title="Set up a second factor">
      <p>This gateway asks everybody for one. You need an app that makes codes, such as a password manager.</p>
      <Enrolment email={session.email} onDone={on} />
      <SignOut />
    </Card>
  )
}

function SignOut() {
  return (
    <Button
      kind="plain"
      onClick={async () => {
        await api('POST /auth/internal/logout').catch(() => undefined)
        location.assign('/console/sign-in')
      }}
    >
      Sign out
    </Button>
  )
}
