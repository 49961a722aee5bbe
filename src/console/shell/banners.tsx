import { databaseAway, offline } from '../data/connection.ts'
import { lookingAs } from '../data/looking-as.ts'
import { useStore } from '../data/store.ts'
import { Button } from '../design/button.tsx'

/** Banners for problems of the whole gateway, and for a console that is looked at as somebody else. */
export function Banners() {
  const away = useStore(databaseAway)
  const alone = useStore(offline)
  const role = useStore(lookingAs)
  return (
    <div role="status">
      {role && (
        <div class="notice edge row">
          <span class="grow">You look as {role}: nothing can be changed. Lists show what you may read yourself.</span>
          <Button onClick={() => lookingAs.set('')}>End</Button>
        </div>
      )}
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
