import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { chooseScope, useScope } from '../data/scope.ts'
import { useSession } from '../data/session.ts'
import { Dialog } from '../design/dialog.tsx'
import { Icon, Sign } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import type { ConsolePage } from '../pages/index.ts'
import { AccountMenu } from './account-menu.tsx'
import { overlay } from './overlay.ts'
import { useShownPages } from './shown-pages.ts'

const GROUPS = ['', 'Observe', 'Use', 'Routing', 'People', 'Operate'] as const

const addressOf = ({ path }: ConsolePage) => (path === '' ? '/console' : `/console/${path}`)
const isAt = (page: ConsolePage, path: string) =>
  page.path === '' ? path === '/console' : path === addressOf(page) || path.startsWith(`${addressOf(page)}/`)

export function Navigation() {
  return (
    <header class="side">
      <a class="brand" href="/console">
        <Sign />
        Model gateway
      </a>
      <ScopeSwitch />
      <nav class="nav" aria-label="Pages">
        <PageLinks />
      </nav>
      <div class="side-foot">
        <button type="button" class="nav-item" onClick={() => overlay.set('palette')}>
          <Icon name="search" />
          Search
          <kbd>{navigator.platform.startsWith('Mac') ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <AccountMenu />
      </div>
    </header>
  )
}

function PageLinks({ onFollow }: { readonly onFollow?: () => void }) {
  const { path } = useLocation()
  const pages = useShownPages()
  return (
    <>
      {GROUPS.map((group) => {
        const inside = pages.filter((page) => page.group === group)
        if (inside.length === 0) return null
        return (
          <section key={group}>
            {group && <h2>{group}</h2>}
            <ul>
              {inside.map((page) => (
                <li key={page.id}>
                  <a
                    class="nav-item"
                    href={addressOf(page)}
                    aria-current={isAt(page, path) ? 'page' : undefined}
                    onClick={onFollow}
                  >
                    <Icon name={page.icon} />
                    {page.label}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </>
  )
}

/** Limits the lists to one organization or team. Who has only one place has nothing to choose. */
function ScopeSwitch() {
  const { organizations, teams } = useSession()
  const { organization_id, team_id } = useScope()
  if (organizations.length + teams.length < 2) return null
  const named = (place: { id: string; name: string | null } | undefined) => place && (place.name ?? place.id)
  const current =
    named(teams.find(({ id }) => id === team_id)) ?? named(organizations.find(({ id }) => id === organization_id))
  return (
    <Menu
      label="What is shown"
      class="nav-item"
      items={[
        { label: 'Everything', checked: !current, onSelect: () => chooseScope({}) },
        ...organizations.map(({ id, name }) => ({
          label: name ?? id,
          note: 'organization',
          checked: !team_id && id === organization_id,
          onSelect: () => chooseScope({ organization_id: id }),
        })),
        ...teams.map(({ id, name }) => ({
          label: name ?? id,
          note: 'team',
          checked: id === team_id,
          onSelect: () => chooseScope({ team_id: id }),
        })),
      ]}
    >
      <span class="grow cut">{current ?? 'Everything'}</span>
      <Icon name="down" />
    </Menu>
  )
}

/** On phones: the pages that are opened most, and all others behind a button. */
export function TabBar() {
  const { path } = useLocation()
  const pages = useShownPages()
  const [open, setOpen] = useState(false)
  return (
    <nav class="tabbar" aria-label="Pages">
      {pages.slice(0, 4).map((page) => (
        <a key={page.id} href={addressOf(page)} aria-current={isAt(page, path) ? 'page' : undefined}>
          <Icon name={page.icon} />
          {page.label}
        </a>
      ))}
      <button type="button" onClick={() => setOpen(true)} aria-haspopup="dialog">
        <Icon name="menu" />
        More
      </button>
      {open && (
        <Dialog title="Model gateway" onClose={() => setOpen(false)}>
          <div>
            <ScopeSwitch />
            <PageLinks onFollow={() => setOpen(false)} />
            <button
              type="button"
              class="nav-item"
              onClick={() => {
                setOpen(false)
                overlay.set('palette')
              }}
            >
              <Icon name="search" />
              Search
            </button>
            <AccountMenu />
          </div>
        </Dialog>
      )}
    </nav>
  )
}
