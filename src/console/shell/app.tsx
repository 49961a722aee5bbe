import { useEffect, useRef } from 'preact/hooks'
import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { Route, Router, useLocation } from 'preact-iso/router'
import { lookingAs } from '../data/looking-as.ts'
import { useApi } from '../data/query.ts'
import { useSeenAs } from '../data/seen-as.ts'
import { type Session, SessionContext, useSession } from '../data/session.ts'
import { personOf, personOfPage, waitingForSession } from '../data/signing-in.ts'
import { useStore } from '../data/store.ts'
import { asked } from '../design/confirmed.ts'
import { Broken } from '../design/guard.tsx'
import { Toasts } from '../design/toast.tsx'
import { PAGES } from '../pages/index.ts'
import { Banners } from './banners.tsx'
import { isGate } from './gate-paths.ts'
import { Navigation } from './navigation.tsx'
import { useNavigationKeys } from './navigation-keys.ts'
import { overlay } from './overlay.ts'
import { newerPage, overPart, pagePart } from './part.tsx'
import { useScrolling } from './scrolling.ts'
import { useMoreBeforeConsole } from './suggested.ts'
import { TabBar } from './tab-bar.tsx'

const Gate = lazy(() => import('./gate/gate.tsx').then(({ Gate }) => Gate).catch(newerPage))
const Confirmation = overPart(() => import('../design/dialog.tsx').then(({ Confirmation }) => Confirmation))
const NotYours = pagePart('Not for your roles', () => import('./nowhere.tsx').then(({ NotYours }) => NotYours))
const Nowhere = pagePart('Nothing is here', () => import('./nowhere.tsx').then(({ Nowhere }) => Nowhere))
const Palette = overPart(() => import('./palette.tsx').then(({ Palette }) => Palette))
const ViewAs = overPart(() => import('./view-as.tsx').then(({ ViewAs }) => ViewAs))
const SignInAgain = overPart(() => import('./gate/sign-in-again.tsx').then(({ SignInAgain }) => SignInAgain))

const VIEWS = PAGES.map(({ id, path, label, load }) => ({
  id,
  path: path === '' ? '/console' : `/console/${path}/:id?`,
  View: pagePart(label, load),
}))

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
          <Shell hasEnded={ended !== undefined} />
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

/** `/console/teams/red` leads to `/console/teams?open=red`. A call has a page of its own. */
function useRecordOfPath(): void {
  const { path, route } = useLocation()
  useEffect(() => {
    const [, page, id] = /^\/console\/(?!requests\/)([^/]+)\/([^/]+)\/?$/.exec(path) ?? []
    if (!id || viewsAt(path).length === 0) return
    const search = new URLSearchParams(location.search)
    search.set('open', decodeURIComponent(id))
    route(`/console/${page}?${search}`, true)
  }, [path])
}

/** None for a path such as `/console/groups/100%`, which cannot be decoded. */
function viewsAt(path: string): typeof VIEWS {
  try {
    // Used, because bundlers leave out a call whose result nobody uses.
    return decodeURIComponent(path) ? VIEWS : []
  } catch {
    return []
  }
}

function Shell({ hasEnded }: { readonly hasEnded: boolean }) {
  const { path } = useLocation()
  const { pages } = useSession()
  const waiting = useStore(waitingForSession)
  const over = useStore(overlay)
  useNavigationKeys()
  useRecordOfPath()
  useScrolling()
  return (
    <div class="shell">
      <a class="button skip" href="#main">
        To the page
      </a>
      <Navigation />
      <div class="stage">
        <Banners />
        <ErrorBoundary>
          <Router>
            {viewsAt(path).map(({ id, path, View }) => (
              <Route key={id} path={path} component={pages.includes(id) ? View : NotYours} />
            ))}
            <Route default component={Nowhere} />
          </Router>
        </ErrorBoundary>
      </div>
      <TabBar />
      {over && <ErrorBoundary>{over === 'view-as' ? <ViewAs /> : <Palette />}</ErrorBoundary>}
      {(hasEnded || waiting) && (
        <ErrorBoundary>
          <SignInAgain />
        </ErrorBoundary>
      )}
    </div>
  )
}
