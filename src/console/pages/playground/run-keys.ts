import { useEffect, useRef } from 'preact/hooks'

/** Ctrl or ⌘ with Enter runs, Escape stops what runs. Both also while one types, but not under a dialog. */
export function useRunKeys(keys: { readonly run: () => void; readonly stop: (() => void) | undefined }): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const { run, stop } = current.current
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        run()
      } else if (event.key === 'Escape' && stop) {
        event.preventDefault()
        stop()
      }
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
