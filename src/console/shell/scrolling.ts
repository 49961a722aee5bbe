import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'

/** How far each address was scrolled when it was last shown. */
const scrolled = new Map<string, number>()

const page = () => document.getElementById('main')

/** A new page begins at its top. Back leads to where its page was left, and to the link that was followed there. */
export function useScrolling(): void {
  const { path, url } = useLocation()
  const shown = useRef({ path, url, main: page() })
  const wentBack = useRef(false)
  useEffect(() => {
    const noted = ({ target }: Event) => {
      if (target === page()) scrolled.set(location.pathname + location.search, (target as HTMLElement).scrollTop)
    }
    const moved = () => {
      wentBack.current = true
    }
    // What scrolls is within the page, and its events do not bubble.
    addEventListener('scroll', noted, true)
    addEventListener('popstate', moved)
    return () => {
      removeEventListener('scroll', noted, true)
      removeEventListener('popstate', moved)
    }
  }, [])
  useEffect(() => {
    const { current: before } = shown
    const main = page()
    const isBack = wentBack.current
    wentBack.current = false
    shown.current = { path, url, main }
    if (!isBack) {
      if (path !== before.path) main?.scrollTo(0, 0)
    } else if (main && main !== before.main) {
      main.scrollTo(0, scrolled.get(url) ?? 0)
      if (document.activeElement?.matches('body,h1'))
        main.querySelector<HTMLElement>(`a[href="${CSS.escape(before.url)}"]`)?.focus({ preventScroll: true })
    }
  }, [url])
}
