import { databaseAway, offline } from '../data/connection.ts'
import { useStore } from '../data/store.ts'

/** Banners for problems of the whole gateway. */
export function Banners() {
  const away = useStore(databaseAway)
  const alone = useStore(offline)
  return (
    <div role="status">
      {alone && (
        <div class="notice warn edge">There is no network. What is shown was read before; nothing can be changed.</div>
      )}
      {away && !alone && (
        <div class="notice warn edge">
          Administration is read-only for now: the database is away. Model calls go on.
        </div>
      )}
    </div>
  )
}
