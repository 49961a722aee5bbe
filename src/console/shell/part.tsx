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

/** A page, loaded when it is opened. After a newer version of the gateway was put in place, the files of this one are
 *  gone: then the newer console opens it. */
export function pagePart(title: string, load: Load): FunctionComponent {
  const View = lazy(() => load().catch(newerPage))
  return () => (
    <Guard of={useLocation().url} title={title}>
      <View />
    </Guard>
  )
}

/** Leaves for the console that the gateway serves now, unless that is this one. */
export async function newerPage(): Promise<FunctionComponent> {
  const own = document.querySelector<HTMLScriptElement>('script[type=module]')?.getAttribute('src') ?? ''
  const served = await fetch('/console', { cache: 'no-store' }).then(
    (answer) => answer.text(),
    () => '',
  )
  if (!served.includes('/assets/') || served.includes(own) || wasLeft(own)) return LostPage
  location.reload()
  return () => null
}

/** Whether this tab has left a version before, which is noted. Where two are served at a time, it does not go back and
 *  forth between them; a browser that keeps nothing stays. */
function wasLeft(version: string): boolean {
  try {
    const left = sessionStorage.getItem('left') ?? ''
    sessionStorage.setItem('left', `${left} ${version}`)
    return left.includes(version)
  } catch {
    return true
  }
}

/** A lazily loaded overlay. A failure does not reload the console, because the page below may have unsaved input. */
export const overPart = (load: Load) =>
  lazy(() =>
    load().catch(() => {
      toast(LOST, { bad: true })
      return () => null
    }),
  )
