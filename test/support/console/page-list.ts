/** A page, as far as the console's own list tells of it. */
export interface ListedPage {
  readonly id: string
  /** After /console; '' is the first page. */
  readonly path: string
  readonly label: string
}

// Not imported by name: the list reaches sources that are written for browsers.
const LIST = new URL('../../../src/console/pages/index.ts', import.meta.url).href
const { PAGES: pages } = (await import(/* @vite-ignore */ LIST)) as { readonly PAGES: readonly ListedPage[] }

/** Every page of the console, in the order of the navigation. What is tested for each of them holds for a new one too. */
export const PAGES: readonly ListedPage[] = pages
