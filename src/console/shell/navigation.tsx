import { useLocation } from 'preact-iso/router'
import { chooseScope, useScope } from '../data/scope.ts'
import { useSession } from '../data/session.ts'
import { Icon, Sign } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import { AccountMenu } from './account-menu.tsx'
import { overlay } from './overlay.ts'
import { addressOfPage, isAt, useShownPages } from './shown-pages.ts'

const GROUPS = ['', 'Observe', 'Use', 'Routing', 'People', 'Operate'] as const

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

export function PageLinks({ onFollow }: { readonly onFollow?: () => void }) {
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
                    href={addressOfPage(page)}
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

/** Limits the lists to one organization or team. Hidden for people with a single one. */
export function ScopeSwitch() {
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
