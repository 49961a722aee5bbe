import { useState } from 'preact/hooks'
import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Badge } from '../../design/badge.tsx'
import { CopyButton } from '../../design/button.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded } from '../../design/states.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { Labels } from './labels.tsx'
import type { Version } from './prompt.ts'
import { PromptActions } from './prompt-actions.tsx'
import { PromptEditor } from './prompt-editor.tsx'
import { Text } from './text.tsx'
import { Versions } from './versions.tsx'

const TABS = [
  { id: 'text', label: 'Text' },
  { id: 'versions', label: 'Versions' },
  { id: 'labels', label: 'Labels' },
] as const

/** One prompt: what its versions say, how they differ, and which of them calls mean. */
export function PromptPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const params = useParams()
  const may = useMay()
  const [base, setBase] = useState<Version>()
  const read = useApi('GET /ui/api/prompts/{key}', { params: { key: id } })
  const { data: prompt } = read
  const tab = TABS.find((one) => one.id === params.get('tab'))?.id ?? 'text'
  return (
    <Panel
      title={
        <>
          {id} <CopyButton text={id} label="Copy the key" />
        </>
      }
      onClose={onClose}
      footer={prompt && may('config.update') && <PromptActions prompt={prompt} onWrite={setBase} onGone={onClose} />}
    >
      <Loaded of={read}>
        {(one) => (
          <>
            {one.state === 'archived' && (
              <p>
                <Badge tone="warn">archived</Badge> Calls that name it are refused.
              </p>
            )}
            {one.description && <p>{one.description}</p>}
            <Tabs
              tabs={TABS}
              label="About the prompt"
              current={tab}
              onChange={(next) => params.set({ tab: next === 'text' ? undefined : next }, { replace: true })}
            />
            {tab === 'text' && <Text prompt={one} />}
            {tab === 'versions' && <Versions prompt={one} />}
            {tab === 'labels' && <Labels prompt={one} />}
            {base && (
              <PromptEditor
                base={{ prompt: one, version: base }}
                onClose={() => setBase(undefined)}
                onDone={() => {
                  setBase(undefined)
                  params.set({ tab: 'versions', version: undefined, from: undefined, to: undefined })
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}
