import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Button, CopyButton } from '../../design/button.tsx'
import { CallCode } from '../../design/call/call-code.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Facts } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'
import { useCopyId } from '../key/copy-id.ts'
import { type Key, nameOf } from '../key/key.ts'
import { KeyAccess } from '../key/key-access.tsx'
import { useKeyActions } from '../key/key-actions.tsx'
import { LastCalls } from '../key/key-calls.tsx'
import { KeyMade, type MadeKey } from '../key/key-made.tsx'
import { KeyState } from '../key/key-state.tsx'
import { KeyStanding } from '../key/standing.tsx'
import { Spending } from '../place/spending.tsx'

const TABS = [
  { id: 'standing', label: 'Standing' },
  { id: 'call', label: 'How to call' },
  { id: 'usage', label: 'Usage' },
  { id: 'requests', label: 'Requests' },
  { id: 'access', label: 'Access' },
] as const
type TabId = (typeof TABS)[number]['id']

/** A key of one's own: where it stands, how it is used, and what its owner may do with it. */
export function OwnKeyPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const params = useParams()
  const [renaming, setRenaming] = useState(false)
  const [made, setMade] = useState<MadeKey>()
  const read = useApi('GET /ui/api/keys/{key_id}', { params: { key_id: id } })
  const actions = useKeyActions({ calls: true })
  const { data: key } = read
  useCopyId(id)
  const tab: TabId = TABS.find((one) => one.id === params.get('tab'))?.id ?? 'standing'
  return (
    <Panel
      title={key ? nameOf(key) : id}
      onClose={onClose}
      footer={
        key &&
        key.revoked_at === null && (
          <>
            <Button onClick={() => setRenaming(true)}>Rename</Button>
            <Button busy={actions.busy} onClick={async () => setMade(await actions.regenerate(key))}>
              Regenerate
            </Button>
            <Button kind="danger" busy={actions.busy} onClick={() => actions.revoke(key)}>
              Revoke
            </Button>
          </>
        )
      }
    >
      <Loaded of={read}>
        {(one) => (
          <>
            <Facts
              of={[
                ['State', <KeyState of={one} />],
                [
                  'Id',
                  <span class="row">
                    <span class="mono">{one.key_id}</span>
                    <CopyButton text={one.key_id} label="Copy the id" />
                  </span>,
                ],
                ['Ends', <Ago at={one.expires_at} never="never" />],
                ['Last used', <Ago at={one.last_used_at} never="never" />],
              ]}
            />
            <Tabs
              label="About the key"
              tabs={TABS}
              current={tab}
              onChange={(next) => params.set({ tab: next === 'standing' ? undefined : next }, { replace: true })}
            />
            {tab === 'standing' && <KeyStanding of={one} calls />}
            {tab === 'call' && <HowToCall of={one} />}
            {tab === 'usage' && <Spending of={{ key_id: id }} />}
            {tab === 'requests' && <LastCalls query={{ key_id: id }} />}
            {tab === 'access' && <KeyAccess of={one} mayChange={false} />}
            {renaming && <Rename of={one} onClose={() => setRenaming(false)} />}
          </>
        )}
      </Loaded>
      {made && <KeyMade made={made} onClose={() => setMade(undefined)} />}
    </Panel>
  )
}

function HowToCall({ of: key }: { readonly of: Key }) {
  const read = useApi('GET /ui/api/callable-models', { query: { key_id: key.key_id, limit: 1 } })
  return (
    <Loaded of={read}>
      {({ data: [first] }) =>
        first ? (
          <>
            <CallCode model={first.name} mode={first.modes[0]} />
            <p class="quiet">The key itself was shown once, when it was made. If it is lost, regenerate it.</p>
          </>
        ) : (
          <p class="quiet">It may call no model now.</p>
        )
      }
    </Loaded>
  )
}

function Rename({ of: key, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const form = useForm({ key_name: key.key_name })
  const changed = useChange('PATCH /ui/api/keys/{key_id}', { refreshes: ['/ui/api/keys'] })
  async function save(): Promise<void> {
    const params = { key_id: key.key_id }
    if (!(await form.submit(() => changed.mutateAsync({ params, body: form.changes() })))) return
    toast('Renamed.')
    onClose()
  }
  return (
    <FormDialog form={form} title={`Rename ${nameOf(key)}`} save="Rename" onSave={save} onClose={onClose}>
      <TextField form={form} name="key_name" label="Name" nullable />
    </FormDialog>
  )
}
