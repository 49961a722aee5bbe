import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { shortcut } from '../data/shortcuts.ts'
import { overlay } from './overlay.ts'
import { useShownPages } from './shown-pages.ts'

/** The keys that mean the same on every page. */
export function useNavigationKeys(): void {
  const { route } = useLocation()
  const pages = useShownPages()
  useEffect(() => {
    const ends = pages.flatMap(({ key, path, label }) =>
      key ? [shortcut(`g ${key}`, label, () => route(path === '' ? '/console' : `/console/${path}`))] : [],
    )
    ends.push(
      shortcut('/', 'Search or filter', () => document.querySelector<HTMLElement>('[data-search]')?.focus()),
      shortcut('?', 'These keys', () => overlay.set('keys')),
    )
    const command = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      overlay.set('palette')
    }
    addEventListener('keydown', command)
    return () => {
      removeEventListener('keydown', command)
      for (const end of ends) end()
    }
  }, [pages.length])
}
