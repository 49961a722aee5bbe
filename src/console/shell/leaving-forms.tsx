import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { LocationProvider, useLocation } from 'preact-iso/router'
import { anyUnsaved, leave } from '../design/form/unsaved.ts'

/** The part of an address that determines what is open. Other parameters filter, and close no form. */
const OPENS = ['open', 'tab', 'view', 'new', 'edit', 'override', 'copy'] as const

function leads(from: string, to: string): boolean {
  const [before, after] = [from, to].map((one) => new URL(one, location.href)) as [URL, URL]
  return (
    before.pathname !== after.pathname ||
    OPENS.some((name) => before.searchParams.get(name) !== after.searchParams.get(name))
  )
}

/** Asks before a form that was changed is left for another address: by a link, by a key or by the browser's Back. */
export function LeavingForms({ children }: { readonly children: ComponentChildren }) {
  const now = useLocation()
  const { url, route } = now
  const shown = useRef(url)
  shown.current = url
  useLayoutEffect(() => {
    // Before the router hears of it.
    const clicked = (event: MouseEvent) => {
      if (!anyUnsaved() || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0)
        return
      const link = (event.target as Element).closest?.<HTMLAnchorElement>('a[href]')
      if (!link || link.target || link.hasAttribute('download') || link.getAttribute('href')?.startsWith('#')) return
      // The browser asks about those that lead out of the console.
      if (link.origin !== location.origin || !link.pathname.startsWith('/console')) return
      if (!leads(shown.current, link.href)) return
      event.preventDefault()
      event.stopPropagation()
      leave(() => link.click())
    }
    const moved = (event: PopStateEvent) => {
      if (!anyUnsaved() || !leads(shown.current, location.href)) return
      event.stopImmediatePropagation()
      // Back has changed the address already: the form's address is pushed again, and removed after a yes.
      history.pushState(null, '', shown.current)
      leave(() => history.back())
    }
    addEventListener('click', clicked, { capture: true })
    addEventListener('popstate', moved, { capture: true })
    return () => {
      removeEventListener('click', clicked, { capture: true })
      removeEventListener('popstate', moved, { capture: true })
    }
  }, [])
  const guarded = useMemo(
    () => ({
      ...now,
      route(to: string, replace?: boolean) {
        const go = () => route(to, replace)
        if (leads(shown.current, to)) leave(go)
        else go()
      },
    }),
    [now],
  )
  return <LocationProvider.ctx.Provider value={guarded}>{children}</LocationProvider.ctx.Provider>
}
