import { store, useStore } from './store.ts'

/** What a person has chosen in this browser. A browser that keeps nothing has the defaults. */
export interface Settings {
  readonly theme: 'system' | 'light' | 'dark'
  readonly zone: 'local' | 'utc'
  /** Whether single keys do something. */
  readonly keys: boolean
}

const DEFAULTS: Settings = { theme: 'system', zone: 'local', keys: true }

const settings = store<Settings>({ ...DEFAULTS, ...kept('settings', {}), theme: keptTheme() })

export const useSettings = () => useStore(settings)
export const settingsNow = settings.get

export function changeSettings(changes: Partial<Settings>): void {
  const next = { ...settings.get(), ...changes }
  settings.set(next)
  keep('settings', next)
  if (changes.theme === undefined) return
  if (changes.theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = changes.theme
  // Read by theme.js before the page is painted.
  keepText('theme', changes.theme)
}

function keptTheme(): Settings['theme'] {
  const theme = document.documentElement.dataset.theme
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export function kept<Value>(name: string, otherwise: Value): Value {
  try {
    const text = localStorage.getItem(name)
    return text === null ? otherwise : (JSON.parse(text) as Value)
  } catch {
    return otherwise
  }
}

/** Undefined is forgotten. */
export const keep = (name: string, value: unknown) => keepText(name, JSON.stringify(value))

function keepText(name: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, text)
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}
