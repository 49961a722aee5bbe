import { useSession } from '../data/session.ts'
import { type ConsolePage, PAGES } from '../pages/index.ts'

/** The pages that the person may open, in order. */
export function useShownPages(): readonly ConsolePage[] {
  const { pages } = useSession()
  return PAGES.filter(({ id }) => pages.includes(id))
}
