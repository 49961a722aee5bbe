import { useEffect, useRef } from 'preact/hooks'
import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { useLocation } from 'preact-iso/router'
import { lookingAs } from '../data/looking-as.ts'
import { useApi } from '../data/query.ts'
import { useSeenAs } from '../data/seen-as.ts'
import { type Session, SessionContext } from '../data/session.ts'
import { personOf, personOfPage } from '../data/signing-in.ts'
import { useStore } from '../data/store.ts'
import { asked } from '../design/confirmed.ts'
import { Broken } from '../design/guard.tsx'
import { Toasts } from '../design/toast.tsx'
import { isGate } from './gate-paths.ts'
import { newerPage, overPart } from './part.tsx'
import { useMoreBeforeConsole } from './suggested.ts'

const loadShell = () => import('./shell.tsx').then(({ Shell }) => Shell)
// Most people have a session: it comes while the gateway is asked for that.
if (!isGate(location.pathname)) loadShell().catch(() => {})

const Gate = lazy(() => import('./gate/gate.tsx').then(({ Gate }) => Gate).catch(newerPage))
const Shell = lazy(() => loadShell().catch(newerPage))
const Confirmation = overPart(() => import('../design/dialog.tsx').then(({ Confirmation }) => Confirmation))

/** Shows the sign-in, or the console to people with a session. A session that ends under the console, or is replaced by
 *  one of somebody else, is opened again over the page, whoever notices it, and until its second factor is proved. */
export function App() {
  const me = useApi('GET /auth/me')
  const { path } = useLocation()
  const shown = useRef<Session>()
  const person = useStore(personOfPage)
  const isOpen =
    me.data?.authenticated && me.data.standing !== 'unverified' && (!person || person === personOf(me.data))
  const ended = me.data && !isOpen ? shown.current : undefined
  const session = ended ?? me.data
  const hasMore = useMoreBeforeConsole(session)
  const question = useStore(asked)
  const seen = useSeenAs()
  const isShown = session?.authenticated && session.standing === 'complete' && !hasMore && !isGate(path)
  shown.current = isShown ? session : undefined
  useEffect(() => {
    if (!isShown || ended) lookingAs.set('')
    if (!ended) personOfPage.set(isShown ? personOf(session) : '')
  }, [isShown, ended, person])
  return (
    <>
      {!session ? (
        me.error && (
          <div class="gate">
            <main>
              <h1>Model gateway</h1>
              <Broken action="Try again" onAction={() => me.refetch()}>
                {me.error.message} <span class="mono small">{me.error.requestId}</span>
              </Broken>
            </main>
          </div>
        )
      ) : isShown ? (
        <SessionContext.Provider value={seen?.session ?? session}>
          <ErrorBoundary>
            <Shell hasEnded={ended !== undefined} />
          </ErrorBoundary>
        </SessionContext.Provider>
      ) : (
        <ErrorBoundary>
          <Gate session={session} />
        </ErrorBoundary>
      )}
      {question && (
        <ErrorBoundary>
          <Confirmation />
        </ErrorBoundary>
      )}
      <Toasts />
    </>
  )
}
