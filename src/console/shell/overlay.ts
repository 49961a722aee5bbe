import { store } from '../data/store.ts'

/** What is shown over everything: the palette, or the list of keys. */
export const overlay = store<'' | 'palette' | 'keys'>('')
