import { useEffect, useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { queries, refresh, useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { sessionOpened } from '../../data/signing-in.ts'
import { Dialog } from '../../design/dialog.tsx'
import { SignInForm } from './sign-in.tsx'

/** The sign-in over the page after a session has ended: input stays, and failed requests are repeated. A session that is
 *  opened in another tab, as at an identity provider, is noticed when one comes back. */
export function SignInAgain() {
  const [before] = useState(useSession())
  const { data: me } = useApi('GET /auth/me')
  const lacksFactor = me?.authenticated === true && me.standing === 'unverified'
  async function look(): Promise<void> {
    const now = await api('GET /auth/me')
    if (!now.authenticated || now.standing === 'unverified') return
    const isSamePerson = now.account_id === before.account_id
    sessionOpened(isSamePerson)
    // The other may not see what the one has read; and the same person may have other roles.
    if (!isSamePerson) queries.removeQueries({ type: 'inactive' })
    void refresh('/')
  }
  const goOn = () => void look().catch(() => undefined)
  useEffect(() => {
    addEventListener('focus', goOn)
    return () => removeEventListener('focus', goOn)
  }, [])
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      <p>Sign in again to go on where you were.</p>
      <SignInForm onDone={goOn} next={location.pathname + location.search} isOver lacksFactor={lacksFactor} />
    </Dialog>
  )
}
