import { api } from '../data/client.ts'
import { queries } from '../data/query.ts'
import { useSession } from '../data/session.ts'
import { changeSettings, useSettings } from '../data/settings.ts'
import { Icon } from '../design/icons.tsx'
import { Menu } from '../design/menu.tsx'
import { toast } from '../design/toast.tsx'
import { overlay } from './overlay.ts'

const THEMES = { system: 'Colours of the system', light: 'Light', dark: 'Dark' } as const

export function AccountMenu() {
  const { email, role, pages, permissions } = useSession()
  const { theme, zone } = useSettings()
  const name = email ?? 'Master key'
  return (
    <Menu
      label="Account"
      class="nav-item"
      head={
        <p class="menu-note">
          {name}
          <br />
          {role === 'platform_admin' ? 'Platform administrator' : 'Member'}
        </p>
      }
      items={[
        ...(pages.includes('account') ? [{ label: 'Account', href: '/console/account' }] : []),
        ...(permissions.includes('platform.admin')
          ? [{ label: 'View as a role', onSelect: () => overlay.set('view-as') }]
          : []),
        { label: 'Keys of the keyboard', note: '?', onSelect: () => overlay.set('keys') },
        { label: 'API documentation', href: '/docs' },
        null,
        ...(['system', 'light', 'dark'] as const).map((one) => ({
          label: THEMES[one],
          checked: theme === one,
          onSelect: () => changeSettings({ theme: one }),
        })),
        null,
        { label: 'Local time', checked: zone === 'local', onSelect: () => changeSettings({ zone: 'local' }) },
        { label: 'UTC', checked: zone === 'utc', onSelect: () => changeSettings({ zone: 'utc' }) },
        null,
        { label: 'Sign out', onSelect: signOut },
      ]}
    >
      <Icon name="people" />
      <span class="grow cut">{name}</span>
    </Menu>
  )
}

async function signOut(): Promise<void> {
  try {
    await api('POST /auth/internal/logout')
    queries.clear()
    // Nothing is left to see until the page that Back brings has asked who is there.
    addEventListener('pagehide', () => document.body.replaceChildren())
    location.assign('/console/sign-in')
  } catch (error) {
    toast((error as Error).message, { bad: true })
  }
}
