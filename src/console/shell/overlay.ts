import { store } from '../data/store.ts'

/** The overlay: the palette, the list of shortcuts, or the choice of a role to look as. */
export const overlay = store<'' | 'palette' | 'keys' | 'view-as'>('')
