import { settingsNow } from './settings.ts'

interface Shortcut {
  /** `j`, or two after each other: `g r`. */
  readonly keys: string
  readonly does: string
  readonly run: () => void
}

const known = new Set<Shortcut>()

/** Gives single keys a meaning, until the returned function is called. The latest meaning counts. */
export function shortcut(keys: string, does: string, run: () => void): () => void {
  const one = { keys, does, run }
  known.add(one)
  return () => known.delete(one)
}

/** The current shortcuts, for the list of them. */
export const shortcutsNow = (): ReadonlyArray<Pick<Shortcut, 'keys' | 'does'>> => {
  const byKeys = new Map([...known].map((one) => [one.keys, one]))
  return [...byKeys.values()]
}

const SECOND_KEY_MS = 1200

let first: { readonly key: string; readonly at: number } | undefined

function pressed(event: KeyboardEvent): void {
  if (!settingsNow().keys || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
  const target = event.target as HTMLElement
  if (target.closest?.('input, textarea, select, [contenteditable], [role="menu"], dialog.dialog, dialog.palette'))
    return
  const key = event.key
  const began = first && event.timeStamp - first.at < SECOND_KEY_MS ? `${first.key} ${key}` : undefined
  first = undefined
  const found =
    [...known].reverse().find(({ keys }) => keys === began) ?? [...known].reverse().find(({ keys }) => keys === key)
  if (found) {
    event.preventDefault()
    found.run()
  } else if ([...known].some(({ keys }) => keys.startsWith(`${key} `))) {
    first = { key, at: event.timeStamp }
  }
}

addEventListener('keydown', pressed)
