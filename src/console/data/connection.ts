import { store } from './store.ts'

/** Whether the database is away: then the administration cannot be read or changed, and model calls go on. */
export const databaseAway = store(false)
export const noteAway = (away: boolean) => databaseAway.set(away)

/** Whether this browser has no network. */
export const offline = store(!navigator.onLine)
addEventListener('online', () => offline.set(false))
addEventListener('offline', () => offline.set(true))
