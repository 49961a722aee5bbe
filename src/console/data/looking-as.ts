import { store } from './store.ts'

/** The role as whose holder the console is looked at, such as "Viewer of Search quality"; '' where it is not. Meanwhile
 *  nothing is written. */
export const lookingAs = store('')
