import { useSession } from '../data/session.ts'
import { type ConsolePage, PAGES } from '../pages/index.ts'

/** The pages that the person may open, in order. */
export function useShownPages(): readonly ConsolePage[] {
  const { pages } = useSession()
  return PAGES.filter(({ id }) => pages.includes(id))
}

export const addressOfPage = ({ path }: ConsolePage): string => (path === '' ? '/console' : `/console/${path}`)

/** Whether an address is of a page. */
export function isAt(page: ConsolePage, path: string): boolean {
  const address = addressOfPage(page)
  return path === address || (page.path !== '' && path.startsWith(`${address}/`))
}
