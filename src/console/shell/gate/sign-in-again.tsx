import { sessionOpened } from '../../data/signing-in.ts'
import { Dialog } from '../../design/dialog.tsx'
import { SignInForm } from './sign-in.tsx'

/** The sign-in over the page after a session has ended: input stays, and failed requests are repeated. */
export function SignInAgain() {
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      <p>Sign in again to go on where you were.</p>
      <SignInForm onDone={sessionOpened} next={location.pathname + location.search} />
    </Dialog>
  )
}
