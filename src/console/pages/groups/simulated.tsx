import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { shortcut } from '../../data/shortcuts.ts'
import { Cut } from '../../design/badge.tsx'
import { Meter } from '../../design/meter.tsx'
import { Section } from '../../design/page.tsx'
import { share } from '../../design/rounded.ts'
import { Notice } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import type { Policy, Simulation } from './group.ts'

type Mode = Simulation['mode']
const MODES: readonly Mode[] = [
  'chat',
  'completion',
  'embedding',
  'image_generation',
  'audio_speech',
  'audio_transcription',
  'rerank',
  'moderation',
]

type Line = Simulation['deployments'][number] & { readonly now: number | undefined }

const COLUMNS: ReadonlyArray<Column<Line>> = [
  { id: 'deployment', label: 'Deployment', cell: (one) => <Cut>{one.deployment_id}</Cut> },
  { id: 'now', label: 'In force', cell: ({ now }) => (now === undefined ? '–' : <Bar of={now} />) },
  { id: 'draft', label: 'Draft', cell: (one) => <Bar of={one.share} /> },
  {
    id: 'why',
    label: 'Why',
    priority: 2,
    cell: ({ eligible, reason }) => <span class={eligible ? 'wraps quiet' : 'wraps wrong'}>{reason}</span>,
  },
]

/** Where a thousand calls would go at this moment, with the policy in force and with the draft, as it is typed. */
export function Simulated({
  name,
  policy,
  onResult,
}: {
  readonly name: string
  readonly policy: Policy
  readonly onResult: (simulation: Simulation | undefined) => void
}) {
  const [tags, setTags] = useState('')
  const [mode, setMode] = useState<Mode>()
  const [asks, setAsks] = useState(0)
  const place = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState<Simulation>()
  const [wrong, setWrong] = useState('')
  const wanted = tags
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean)
  const asked = JSON.stringify({ policy, tags: wanted, mode, asks })
  const body = { ...(wanted.length > 0 && { tags: wanted }), ...(mode && { mode }) }
  const now = useApi('POST /ui/api/route-groups/{name}/simulate', { params: { name }, body })
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(async () => {
      try {
        const found = await api(
          'POST /ui/api/route-groups/{name}/simulate',
          { params: { name }, body: { ...body, policy } },
          stop.signal,
        )
        setDrawn(found)
        setWrong('')
        onResult(found)
      } catch (error) {
        if (error instanceof ApiError) setWrong(error.message)
        onResult(undefined)
      }
    }, 400)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [asked])
  useEffect(
    () =>
      shortcut('s', 'Simulate again', () => {
        setAsks((count) => count + 1)
        void now.refetch()
        place.current?.scrollIntoView({ block: 'nearest' })
      }),
    [],
  )
  return (
    <div ref={place}>
      <Section
        title="Simulation"
        actions={
          <span class="row">
            <select
              class="input order"
              aria-label="Kind of the simulated calls"
              value={mode ?? ''}
              onChange={(event) => setMode((event.currentTarget.value || undefined) as Mode | undefined)}
            >
              <option value="">
                {mode === undefined && drawn ? `As it serves: ${words(drawn.mode)}` : 'As it serves'}
              </option>
              {MODES.map((one) => (
                <option key={one} value={one}>
                  {words(one)}
                </option>
              ))}
            </select>
            <input
              class="input search"
              aria-label="Tags of the simulated calls"
              placeholder="Tags of the calls"
              value={tags}
              onInput={(event) => setTags(event.currentTarget.value)}
            />
          </span>
        }
      >
        {wrong && <Notice tone="warn">{wrong}</Notice>}
        {drawn && drawn.unserved > 0 && (
          <Notice tone="warn">
            {drawn.unserved} of {drawn.calls} calls find no deployment at this moment: they fall back, wait or fail.
          </Notice>
        )}
        {drawn && (
          <Table
            name="simulated"
            label="Simulation"
            columns={COLUMNS}
            rows={drawn.deployments.map((one) => ({
              ...one,
              now: now.data?.deployments.find(({ deployment_id: id }) => id === one.deployment_id)?.share,
            }))}
            rowId={(one) => one.deployment_id}
          />
        )}
      </Section>
    </div>
  )
}

const words = (mode: Mode) => mode.replaceAll('_', ' ')

const Bar = ({ of }: { readonly of: number }) => <Meter used={of} of={1} text={share(of, 1)} plain />
