import { useLocation } from 'preact-iso/router'
import type { Answer } from '../../data/client.ts'
import { queries } from '../../data/query.ts'
import { Card } from './card.tsx'
import { ChangePassword } from './change-password.tsx'
import { FactorStep } from './factor-step.tsx'
import { Forgot } from './forgot.tsx'
import { Invitation } from './invitation.tsx'
import { Reset } from './reset.tsx'
import { SignIn } from './sign-in.tsx'
import { SignOut } from './sign-out.tsx'
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
        <p>Your password was set by someone else. Choose one that only you know.</p>
        <ChangePassword email={session.email} onDone={on} />
        <SignOut />
      </Card>
    )
  }
  return <FactorStep session={session} onDone={on} />
}
