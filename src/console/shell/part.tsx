import type { FunctionComponent } from 'preact'
import lazy from 'preact-iso/lazy'
import { toast } from '../design/toast.tsx'

type Load = () => Promise<FunctionComponent>

const LOST = 'The network failed, or the gateway was updated. Reload the page.'

/** Of plain elements: what else it would be made of may be what cannot be loaded. */
const LostPage = () => (
  <main class="page-main" id="main">
    <div class="blank">
      <h1>This could not be shown</h1>
      <p>{LOST}</p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  </main>
)

/** A page, loaded when it is opened. After a newer version of the gateway was put in place, the files of this one are gone. */
export const pagePart = (load: Load) => lazy(() => load().catch(() => LostPage))

/** Something that comes over the page, where something may be typed that is not saved. */
export const overPart = (load: Load) =>
  lazy(() =>
    load().catch(() => {
      toast(LOST, { bad: true })
      return () => null
    }),
  )
