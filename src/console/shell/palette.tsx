import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { type Lookup, lookups } from '../data/lookups.ts'
import { pathTo } from '../data/params.ts'
import { shortcutsNow } from '../data/shortcuts.ts'
import { useStore } from '../data/store.ts'
import { Dialog, useModal } from '../design/dialog.tsx'
import { overlay } from './overlay.ts'
import { useShownPages } from './shown-pages.ts'

interface Hit {
  readonly label: string
  readonly note: string
  readonly href: string
}

/** Things that are found by their name, by the page that shows them. */
const FOUND: Readonly<Record<string, { readonly lookup: Lookup; readonly what: string }>> = {
  keys: { lookup: lookups.key, what: 'key' },
  teams: { lookup: lookups.team, what: 'team' },
  organizations: { lookup: lookups.organization, what: 'organization' },
  people: { lookup: lookups.user, what: 'person' },
}

/** What a call's id, or its request's, looks like. */
const CALL_ID = /^(?:req|call)[_-][\w-]{8,}$/

export function Palette() {
  const shown = useStore(overlay)
  if (shown === 'palette') return <Search />
  if (shown === 'keys') return <Keys />
  return null
}

const close = () => overlay.set('')

function Search() {
  const { route } = useLocation()
  const pages = useShownPages()
  const dialog = useModal(close)
  const [text, setText] = useState('')
  const [found, setFound] = useState<{ readonly of: string; readonly hits: readonly Hit[] }>({ of: '', hits: [] })
  const followsFirst = useRef(false)
  const [at, setAt] = useState(0)
  const wanted = text.trim()
  useEffect(() => {
    let current = true
    setAt(0)
    const timer = setTimeout(async () => {
      if (wanted.length < 2) return setFound({ of: wanted, hits: [] })
      const kinds = pages.filter(({ id }) => id in FOUND)
      const lists = await Promise.all(
        kinds.map(async ({ id, path }) => {
          const { lookup, what } = FOUND[id] as (typeof FOUND)[string]
          const hits = await lookup.search(wanted).catch(() => [])
          return hits
            .slice(0, 5)
            .map(({ value, label }) => ({ label, note: what, href: pathTo(path, { open: value }) }))
        }),
      )
      if (!current) return
      setFound({ of: wanted, hits: lists.flat() })
      if (followsFirst.current) follow(lists.flat()[0])
    }, 150)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [text])
  useEffect(() => document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' }), [at])
  const named = pages
    .filter(({ label }) => label.toLowerCase().includes(wanted.toLowerCase()))
    .map(({ label, path, key }) => ({ label, note: key ? `g ${key}` : 'page', href: pathTo(path) }))
  const call = CALL_ID.test(wanted)
    ? [{ label: `Call ${wanted}`, note: 'request', href: pathTo('requests', { request_id: wanted }) }]
    : []
  const known = [...call, ...named]
  const hits = [...known, ...(wanted.length < 2 ? [] : found.hits)]
  function follow(hit: Hit | undefined): void {
    if (!hit) return
    close()
    route(hit.href)
  }
  function key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((now) => (now + step + hits.length) % Math.max(1, hits.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      // Whoever is faster than the search means what it will find.
      if (at >= known.length && wanted.length > 1 && found.of !== wanted) followsFirst.current = true
      else follow(hits[at])
    }
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search"
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-hits"
        aria-activedescendant={hits[at] ? `palette-${at}` : undefined}
        aria-label="Search pages, keys, teams, organizations, people and calls"
        placeholder="A page, a name, or the id of a call"
        value={text}
        onInput={(event) => {
          followsFirst.current = false
          setText(event.currentTarget.value)
        }}
        onKeyDown={key}
      />
      <ul id="palette-hits" role="listbox" aria-label="Found">
        {hits.map((hit, index) => (
          <li
            key={hit.href}
            id={`palette-${index}`}
            class="option"
            role="option"
            aria-selected={index === at}
            onClick={() => follow(hit)}
          >
            <span class="grow cut">{hit.label}</span>
            <span class="note">{hit.note}</span>
          </li>
        ))}
        {hits.length === 0 && (
          <li class="option quiet" role="option" aria-selected="false" aria-disabled="true">
            Nothing found
          </li>
        )}
      </ul>
    </dialog>
  )
}

function Keys() {
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="facts">
        {[{ keys: 'Ctrl K', does: 'Search everything' }, ...shortcutsNow()].map(({ keys, does }) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  )
}
