import { useState } from 'preact/hooks'
import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { useLocation } from 'preact-iso/router'
import { Icon } from '../design/icons.tsx'
import { addressOfPage, isAt, useShownPages } from './shown-pages.ts'

const MorePages = lazy(() => import('./more-pages.tsx').then(({ MorePages }) => MorePages))

/** On phones: the pages that are opened most, and all others behind a button. */
export function TabBar() {
  const { path } = useLocation()
  const pages = useShownPages()
  const [open, setOpen] = useState(false)
  return (
    <nav class="tabbar" aria-label="Pages">
      {pages.slice(0, 4).map((page) => (
        <a key={page.id} href={addressOfPage(page)} aria-current={isAt(page, path) ? 'page' : undefined}>
          <Icon name={page.icon} />
          {page.label}
        </a>
      ))}
      <button type="button" onClick={() => setOpen(true)} aria-haspopup="dialog">
        <Icon name="menu" />
        More
      </button>
      {open && (
        <ErrorBoundary>
          <MorePages onClose={() => setOpen(false)} />
        </ErrorBoundary>
      )}
    </nav>
  )
}
