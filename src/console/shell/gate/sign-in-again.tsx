import { refresh } from '../../data/query.ts'
import { sessionOpened } from '../../data/signing-in.ts'
import { Dialog } from '../../design/dialog.tsx'
import { SignInForm } from './sign-in.tsx'

/** The sign-in over the page after a session has ended: input stays, and failed requests are repeated. */
export function SignInAgain() {
  function opened(): void {
    sessionOpened()
    // Its person may be another, or have other roles.
    void refresh('/auth/me')
  }
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      <p>Sign in again to go on where you were.</p>
      <SignInForm onDone={opened} next={location.pathname + location.search} />
    </Dialog>
  )
}
