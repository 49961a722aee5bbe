import { useSession } from '../data/session.ts'
import { changeSettings, useSettings } from '../data/settings.ts'
import { Facts, Page, Section } from '../design/page.tsx'
import { Segmented } from '../design/tabs.tsx'
import { Password } from './account/password.tsx'
import { SecondFactor } from './account/second-factor.tsx'
import { Sessions } from './account/sessions.tsx'

/** One's own account: how one signs in, from where one did, and what one may do. */
export function Account() {
  const session = useSession()
  const { email, role, user_id, account_id } = session
  return (
    <Page title="Account">
      <div class="narrow stack">
        <Section title="You">
          <Facts
            of={[
              ['E-mail', email ?? 'the master key, which belongs to no account'],
              ['Platform role', role === 'platform_admin' ? 'platform administrator: everything' : 'none'],
              ['User id', user_id ? <span class="mono">{user_id}</span> : undefined],
            ]}
          />
        </Section>
        {account_id && session.has_password && <Password email={email} />}
        {account_id && <SecondFactor />}
        {account_id && <Sessions />}
        <Roles />
        <Choices />
      </div>
    </Page>
  )
}

function Roles() {
  const { organizations, teams } = useSession()
  if (organizations.length + teams.length === 0) return null
  const words = (text: string) => text.replaceAll('_', ' ')
  return (
    <Section title="Your roles">
      <ul class="stack plain">
        {[
          ...organizations.map((one) => ['Organization', one] as const),
          ...teams.map((one) => ['Team', one] as const),
        ].map(([kind, { id, name, role, permissions }]) => (
          <li key={`${kind} ${id}`}>
            {kind} <strong>{name ?? id}</strong>: {words(role)}
            <br />
            <span class="quiet small">
              {permissions.length > 0 ? permissions.join(', ') : 'calls models with keys; administers nothing'}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const THEMES = [
  { id: 'system', label: 'System' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const
const ZONES = [
  { id: 'local', label: 'Local time' },
  { id: 'utc', label: 'UTC' },
] as const
const KEYS = [
  { id: 'on', label: 'On' },
  { id: 'off', label: 'Off' },
] as const

function Choices() {
  const { theme, zone, keys } = useSettings()
  return (
    <Section title="This browser">
      <Facts
        of={[
          [
            'Colours',
            <Segmented
              label="Colours"
              options={THEMES}
              current={theme}
              onChange={(id) => changeSettings({ theme: id })}
            />,
          ],
          [
            'Times',
            <Segmented label="Times" options={ZONES} current={zone} onChange={(id) => changeSettings({ zone: id })} />,
          ],
          [
            'Single keys',
            <Segmented
              label="Single keys"
              options={KEYS}
              current={keys ? 'on' : 'off'}
              onChange={(id) => changeSettings({ keys: id === 'on' })}
            />,
          ],
        ]}
      />
    </Section>
  )
}
