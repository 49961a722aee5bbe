import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { ButtonLink } from '../design/button.tsx'
import { Page } from '../design/page.tsx'
import { Empty } from '../design/states.tsx'
import { useShownPages } from './shown-pages.ts'

/** An address without a page. The first page of a person who has no overview is the first that they have. */
export function Nowhere() {
  const { path, route } = useLocation()
  const [first] = useShownPages()
  const isFront = path === '/console' || path === '/console/' || path === '/console/sign-in'
  useEffect(() => {
    if (isFront && first) route(`/console${first.path && `/${first.path}`}`, true)
  }, [isFront])
  if (isFront) return null
  return (
    <Page title="Nothing is here">
      <Empty title="This address leads to no page" actions={<ButtonLink href="/console">To the console</ButtonLink>}>
        It may be mistyped, or from another version of the gateway.
      </Empty>
    </Page>
  )
}

/** An existing page that the person may not open. It sends no requests. */
export function NotYours() {
  return (
    <Page title="Not for your roles">
      <Empty
        title="Your roles do not include this page"
        actions={<ButtonLink href="/console">To the console</ButtonLink>}
      >
        Account shows what each of your roles allows. An administrator can give you another.
      </Empty>
    </Page>
  )
}
