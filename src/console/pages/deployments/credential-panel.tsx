import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { pathTo, useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago, Moment } from '../../design/time.tsx'
import { AFTER_CREDENTIAL, type Credential } from './credential.ts'
import { CredentialDialog } from './credential-dialog.tsx'
import { SettingValue } from './deployment-panel.tsx'
import { labelOf } from './draft.ts'

/** One credential: what it holds, when it was rotated, who uses it. */
export function CredentialPanel({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const may = useMay()
  const [changing, setChanging] = useState(false)
  const read = useApi('GET /ui/api/credentials/{name}', { params: { name } })
  const remove = useChange('DELETE /ui/api/credentials/{name}', AFTER_CREDENTIAL)
  const { data: credential } = read
  async function ask(): Promise<void> {
    const question = {
      title: `Delete ${name}?`,
      body: 'No deployment names it. Its secrets are gone, and cannot be read again from here.',
      action: 'Delete',
      danger: true,
      typed: name,
      done: `${name} is deleted.`,
    }
    if (await performed(question, () => remove.mutateAsync({ params: { name } }))) onClose()
  }
  const isUsed = credential !== undefined && credential.used_by > 0
  return (
    <Panel
      title={name}
      onClose={onClose}
      footer={
        credential &&
        may('config.update') && (
          <>
            <Button onClick={() => setChanging(true)}>Rotate or change</Button>
            {!isUsed && (
              <Button kind="danger" busy={remove.isPending} onClick={() => void ask()}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded of={read}>{(one) => <Content credential={one} />}</Loaded>
      {changing && credential && (
        <CredentialDialog
          credential={credential}
          onClose={() => setChanging(false)}
          onDone={() => setChanging(false)}
        />
      )}
    </Panel>
  )
}

function Content({ credential }: { readonly credential: Credential }) {
  const { name, provider, gateway_params: params, used_by: count, deployments, rotated_at, created_at } = credential
  const place = useParams()
  return (
    <>
      <Section title="What it holds" level={3}>
        <Facts
          of={[
            ['Provider', provider],
            ...Object.entries(params).map(
              ([field, value]) =>
                [labelOf(field), <SettingValue value={value} />] as [string, preact.ComponentChildren],
            ),
            ['Secrets changed', <Moment at={rotated_at} />],
            ['Made', <Moment at={created_at} />],
          ]}
        />
      </Section>
      <Section title={count === 1 ? 'One deployment uses it' : `${count} deployments use it`} level={3}>
        {count === 0 ? (
          <p class="quiet">Choose it where a deployment is added or edited, under Connection.</p>
        ) : (
          <ul class="lines">
            {deployments.map((id) => (
              <li key={id}>
                <a href={place.with({ tab: undefined, open: id })}>{id}</a>
              </li>
            ))}
          </ul>
        )}
        {count > 0 && <p class="quiet small">It cannot be deleted while a deployment names it.</p>}
        {count > deployments.length && <p class="quiet">And {count - deployments.length} more.</p>}
      </Section>
      <Section title="Changes" level={3}>
        <p class="row">
          <span class="quiet">
            Changed <Ago at={credential.updated_at} />
          </span>
          <a href={pathTo('audit', { resource_type: 'credential', resource_id: name })}>
            Every change, with its author
          </a>
        </p>
      </Section>
    </>
  )
}
