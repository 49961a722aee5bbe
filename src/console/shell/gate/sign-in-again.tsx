import { useEffect, useState } from 'preact/hooks'
import { queries, refresh, useApi } from '../../data/query.ts'
import { personOf, personOfPage, sessionOpened } from '../../data/signing-in.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { SignInForm } from './sign-in.tsx'

/** The sign-in over the page after a session has ended: input stays, and failed requests are repeated. A session that is
 *  opened in another tab, as at an identity provider, is noticed when one comes back; that of somebody else is offered. */
export function SignInAgain() {
  const { data: me, refetch } = useApi('GET /auth/me')
  const [other, setOther] = useState<string>()
  const lacksFactor = me?.authenticated === true && me.standing === 'unverified'
  async function look(takesOther: boolean): Promise<void> {
    const { data: now, error } = await refetch()
    if (error || !now?.authenticated || now.standing === 'unverified') return setOther(undefined)
    if (personOf(now) === personOfPage.get()) sessionOpened()
    else if (takesOther) {
      personOfPage.set('')
      sessionOpened()
      // The other may not see what the one has read.
      queries.removeQueries({ type: 'inactive' })
    } else return setOther(now.email ?? 'Master key')
    // The same person may have other roles.
    void refresh('/')
  }
  useEffect(() => {
    const cameBack = () => void look(false)
    cameBack()
    addEventListener('focus', cameBack)
    return () => removeEventListener('focus', cameBack)
  }, [])
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      {other && (
        <p class="notice info">
          <span class="grow">In this browser {other} has signed in.</span>
          <Button small onClick={() => void look(true)}>
            Go on as {other}
          </Button>
        </p>
      )}
      <p>Sign in again to go on where you were.</p>
      <SignInForm
        onDone={() => void look(true)}
        next={location.pathname + location.search}
        isOver
        lacksFactor={lacksFactor}
      />
    </Dialog>
  )
}
