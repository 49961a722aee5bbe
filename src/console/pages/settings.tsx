import { useParams } from '../data/params.ts'
import { Page } from '../design/page.tsx'
import { Tabs } from '../design/tabs.tsx'
import { Callbacks } from './settings/callbacks.tsx'
import { ConfigCheck } from './settings/config-check.tsx'
import { ConfigKeyPanel, ConfigKeys } from './settings/config-keys.tsx'
import { Email } from './settings/email.tsx'
import { Installation } from './settings/installation.tsx'
import { SignIn } from './settings/sign-in.tsx'

const TABS = [
  { id: 'keys', label: 'Settings', Shows: ConfigKeys },
  { id: 'email', label: 'E-mail', Shows: Email },
  { id: 'sign-in', label: 'Sign-in', Shows: SignIn },
  { id: 'sinks', label: 'Sinks', Shows: Callbacks },
  { id: 'instance', label: 'Installation', Shows: Installation },
  { id: 'check', label: 'Check a file', Shows: ConfigCheck },
] as const

/** What the gateway runs with. Nothing is changed here: settings come from the file and the environment. */
export function Settings() {
  const params = useParams()
  const open = params.get('open')
  const { id, Shows } = TABS.find((tab) => tab.id === params.get('tab')) ?? TABS[0]
  return (
    <Page
      title="Settings"
      panel={
        id === 'keys' &&
        open && <ConfigKeyPanel key={open} name={open} onClose={() => params.set({ open: undefined })} />
      }
    >
      <Tabs
        label="Parts of the settings"
        tabs={TABS}
        current={id}
        onChange={(tab) => params.set({ tab: tab === 'keys' ? undefined : tab, search: undefined, open: undefined })}
      />
      <Shows />
    </Page>
  )
}
