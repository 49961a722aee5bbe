import { store } from '../data/store.ts'

/** The overlay: the palette, or the list of shortcuts. */
export const overlay = store<'' | 'palette' | 'keys'>('')
