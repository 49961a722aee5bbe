import { useEffect, useState } from 'preact/hooks'
import { useParams } from '../data/params.ts'
import { useMay } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { Button } from '../design/button.tsx'
import { Page } from '../design/page.tsx'
import { Tabs } from '../design/tabs.tsx'
import { InvitationList } from './people/invitation-list.tsx'
import { InviteDialog } from './people/invite-dialog.tsx'
import { PersonList } from './people/person-list.tsx'
import { PersonPanel } from './people/person-panel.tsx'

const TABS = [
  { id: 'people', label: 'People' },
  { id: 'invitations', label: 'Invitations' },
] as const

export function People() {
  const params = useParams()
  const may = useMay()
  const [inviting, setInviting] = useState(false)
  const [fresh, setFresh] = useState<readonly string[]>([])
  const tab = params.get('tab') === 'invitations' ? 'invitations' : 'people'
  const open = (tab === 'people' && params.get('open')) || undefined
  const show = (id: string | undefined) => params.set({ open: id }, { replace: open !== undefined && id !== undefined })
  const mayInvite = may('user.update')
  useEffect(() => (mayInvite ? shortcut('i', 'Invite people', () => setInviting(true)) : undefined), [mayInvite])
  const invite = mayInvite && (
    <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
      Invite
    </Button>
  )
  return (
    <Page
      title="People"
      actions={invite}
      panel={open && <PersonPanel key={open} id={open} onClose={() => show(undefined)} />}
    >
      <Tabs
        label="People and invitations"
        tabs={TABS}
        current={tab}
        // A state of the one means something else for the other.
        onChange={(id) => params.set({ tab: id === 'people' ? undefined : id, open: undefined, state: undefined })}
      />
      {tab === 'people' ? (
        <PersonList open={open} onOpen={show} invite={invite} />
      ) : (
        <InvitationList fresh={fresh} invite={invite} />
      )}
      {inviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onDone={(ids) => {
            setFresh([...ids, ...fresh])
            params.set({ tab: 'invitations', open: undefined, state: undefined, search: undefined })
          }}
        />
      )}
    </Page>
  )
}
