import { useEffect } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { Route, Router, useLocation } from 'preact-iso/router'
import { useSession } from '../data/session.ts'
import { waitingForSession } from '../data/signing-in.ts'
import { useStore } from '../data/store.ts'
import { PAGES } from '../pages/index.ts'
import { Banners } from './banners.tsx'
import { Navigation } from './navigation.tsx'
import { useNavigationKeys } from './navigation-keys.ts'
import { overlay } from './overlay.ts'
import { overPart, pagePart } from './part.tsx'
import { useScrolling } from './scrolling.ts'
import { TabBar } from './tab-bar.tsx'

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

/** The console around its pages, for people with a session. */
export function Shell({ hasEnded }: { readonly hasEnded: boolean }) {
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
