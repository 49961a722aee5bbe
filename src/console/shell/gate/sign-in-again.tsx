import { sessionOpened } from '../../data/signing-in.ts'
import { Dialog } from '../../design/dialog.tsx'
import { SignInForm } from './sign-in.tsx'

/** The way in over the page, where a session has ended: what was typed stays, and what was asked is asked again. */
export function SignInAgain() {
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      <p>Sign in again to go on where you were.</p>
      <SignInForm onDone={sessionOpened} next={location.pathname + location.search} />
    </Dialog>
  )
}
