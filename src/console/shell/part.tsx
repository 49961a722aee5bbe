import type { FunctionComponent } from 'preact'
import lazy from 'preact-iso/lazy'
import { useLocation } from 'preact-iso/router'
import { Broken, BrokenPage, Guard } from '../design/guard.tsx'
import { toast } from '../design/toast.tsx'

type Load = () => Promise<FunctionComponent>

const LOST = 'The network failed, or the gateway was updated. Reload the page.'

const LostPage = () => (
  <BrokenPage title="This could not be shown">
    <Broken action="Reload" onAction={() => location.reload()}>
      {LOST}
    </Broken>
  </BrokenPage>
)

/** A page, loaded when it is opened. After a newer version of the gateway was put in place, the files of this one are gone. */
export function pagePart(title: string, load: Load): FunctionComponent {
  const View = lazy(() => load().catch(() => LostPage))
  return () => (
    <Guard of={useLocation().url} title={title}>
      <View />
    </Guard>
  )
}

/** Something that comes over the page, where something may be typed that is not saved. */
export const overPart = (load: Load) =>
  lazy(() =>
    load().catch(() => {
      toast(LOST, { bad: true })
      return () => null
    }),
  )
