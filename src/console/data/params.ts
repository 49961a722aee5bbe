import { useLocation } from 'preact-iso/router'

/** The parameters of the address, which hold everything on a page that one would share. */
export interface Params {
  get(name: string): string
  /** Changes some; an empty one is taken out. With `replace` it is no step of the browser's history. */
  set(changes: Readonly<Record<string, string | undefined>>, options?: { readonly replace?: boolean }): void
  /** Puts others in the place of all of them. */
  go(search: string): void
  /** The address with some changed. */
  with(changes: Readonly<Record<string, string | undefined>>): string
}

export function useParams(): Params {
  const { url, route } = useLocation()
  const [path = '', search = ''] = url.split('?', 2)
  const current = new URLSearchParams(search)
  const changed = (changes: Readonly<Record<string, string | undefined>>, from = current) => {
    const next = new URLSearchParams(from)
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    return next.size > 0 ? `${path}?${next}` : path
  }
  return {
    get: (name) => current.get(name) ?? '',
    // Read again: the address may have changed since the render, and a late timer must not undo that.
    set: (changes, { replace = false } = {}) => route(changed(changes, new URLSearchParams(location.search)), replace),
    go: (search) => route(search ? `${path}?${search}` : path),
    with: (changes) => changed(changes),
  }
}

/** What is open beside a list, and the way to open another, or none. To go from one to the next is no step of the
 *  browser's history. */
export function useOpen(): readonly [string | undefined, (id: string | undefined) => void] {
  const params = useParams()
  const open = params.get('open') || undefined
  return [open, (id) => params.set({ open: id }, { replace: open !== undefined && id !== undefined })]
}

/** The address of a page of the console: `pathTo('teams', { open: id })`. */
export function pathTo(page: string, params: Readonly<Record<string, string | undefined | null>> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) if (value) search.set(name, value)
  const path = page === '' ? '/console' : `/console/${page}`
  return search.size > 0 ? `${path}?${search}` : path
}
