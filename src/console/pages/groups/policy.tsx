import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api } from '../../data/client.ts'
import { refresh, useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { NumberField, SelectField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { toast } from '../../design/toast.tsx'
import {
  draftOf,
  type Policy,
  type PolicyState,
  policyOf,
  SETTINGS,
  type Simulation,
  STRATEGIES,
  type Strategy,
  settingWords,
} from './group.ts'
import { Simulated } from './simulated.tsx'
import { Traffic } from './traffic.tsx'

const AT = '/ui/api/route-groups'

interface Line {
  readonly label: string
  readonly now: string | undefined
  readonly next: string | undefined
}

/** The policy in force beside a draft of the next one. */
export function PolicyEditor({ state }: { readonly state: PolicyState }) {
  const { name, published, draft } = state
  const allowed = useMay()
  const may = allowed('config.update')
  const seesCalls = allowed('spend.read')
  const [version, setVersion] = useState(draft?.draft_version)
  const form = useForm(draftOf(draft?.policy ?? published?.policy ?? {}))
  const inherited = useApi(`POST ${AT}/{name}/policy/validate`, { params: { name }, body: {} }, { enabled: may })
  const [simulation, setSimulation] = useState<Simulation>()
  const [publishing, setPublishing] = useState(false)
  const [conflict, setConflict] = useState<PolicyState>()
  const policy = policyOf(form.values)
  const inForce: Policy = published?.policy ?? {}
  const base: Readonly<Record<string, unknown>> = inherited.data?.effective ?? {}
  const lines = linesOf(inForce, policy)
  const like = (key: string, unit = '') => `${base[key] ?? 'off'}${unit}, inherited`

  async function write(over = version): Promise<number | undefined> {
    let written: number | undefined
    await form.submit(async () => {
      try {
        const query = over === undefined ? {} : { draft_version: over }
        const answer = await api(`PUT ${AT}/{name}/policy/draft`, { params: { name }, query, body: policy })
        written = answer.draft?.draft_version
        setVersion(written)
        form.reset(form.values)
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'version_conflict') throw error
        setConflict(await api(`GET ${AT}/{name}/policy`, { params: { name } }))
      }
      return written !== undefined
    })
    return written
  }
  async function publish(): Promise<void> {
    const written = await write()
    if (written === undefined) return setPublishing(false)
    const done = await form.submit(() =>
      api(`POST ${AT}/{name}/policy/publish`, { params: { name }, query: { draft_version: written } }),
    )
    setPublishing(false)
    if (!done) return
    toast('Published. It is in force everywhere within five seconds.')
    await refresh(AT)
  }
  async function drop(): Promise<void> {
    const dropped =
      version === undefined || (await form.submit(() => api(`DELETE ${AT}/{name}/policy/draft`, { params: { name } })))
    if (!dropped) return
    setVersion(undefined)
    form.reset(draftOf(inForce))
    await refresh(AT)
  }
  const ask = useRef(() => {})
  ask.current = () => may && lines.length > 0 && setPublishing(true)
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      ask.current()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
  return (
    <div class="stack">
      {conflict && (
        <Notice
          tone="warn"
          actions={
            <>
              <Button
                small
                onClick={() => {
                  setVersion(conflict.draft?.draft_version)
                  form.reset(draftOf(conflict.draft?.policy ?? conflict.published?.policy ?? {}))
                  setConflict(undefined)
                }}
              >
                Load theirs
              </Button>
              <Button
                small
                onClick={() => {
                  setConflict(undefined)
                  void write(conflict.draft?.draft_version)
                }}
              >
                Keep mine
              </Button>
            </>
          }
        >
          Somebody else has changed the draft meanwhile.
        </Notice>
      )}
      <Section
        title={published ? `Strategy · version ${published.version} in force` : 'Strategy · nothing published yet'}
      >
        <ul class="choices">
          {([null, ...Object.keys(STRATEGIES)] as (Strategy | null)[]).map((one) => (
            <li key={one}>
              <button
                type="button"
                class="choice"
                disabled={!may}
                aria-pressed={form.values.routing_strategy === one}
                onClick={() => form.set('routing_strategy', one)}
              >
                <b>
                  {one ?? 'Inherit'}
                  {(inForce.routing_strategy ?? null) === one && <span> · in force</span>}
                </b>
                <span>{one ? STRATEGIES[one] : `As router_settings say: ${base.routing_strategy ?? '…'}.`}</span>
              </button>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Time, retries, hedging">
        <div class="fields">
          <div class="pair">
            <NumberField
              form={form}
              name="timeout"
              label="Timeout of an attempt"
              unit="s"
              placeholder={like('timeout')}
            />
            <NumberField
              form={form}
              name="total_timeout"
              label="Timeout of the call"
              unit="s"
              placeholder={like('total_timeout')}
            />
            <NumberField form={form} name="num_retries" label="Retries" min={0} placeholder={like('num_retries')} />
            <NumberField
              form={form}
              name="retry_after"
              label="Wait before the first retry"
              unit="s"
              min={0}
              placeholder={like('retry_after')}
            />
            <SelectField
              form={form}
              name="hedging"
              label="Hedge a slow attempt"
              none="Inherit"
              options={[
                { value: 'off', label: 'Never' },
                { value: 'p95', label: 'When slower than 95 % of its calls' },
                { value: 'after', label: 'After a time' },
              ]}
            />
            {form.values.hedging === 'after' && (
              <NumberField form={form} name="hedge_after_ms" label="After" unit="ms" min={1} />
            )}
            <TextField
              form={form}
              name="prompt_ref"
              label="Prompt before each call"
              nullable
              mono
              placeholder="none"
              hint="key, key@3 or key:label"
            />
          </div>
        </div>
      </Section>
      <Simulated name={name} policy={policy} onResult={setSimulation} />
      {published && seesCalls && <Traffic name={name} since={published.published_at} />}
      {may && (
        <footer class="form-foot">
          <span class="grow quiet">
            {form.problem ? (
              <span class="wrong" role="alert">
                {form.problem}
              </span>
            ) : lines.length === 0 ? (
              'The draft is as what is in force.'
            ) : form.dirty ? (
              'Not saved.'
            ) : (
              version !== undefined && 'The draft is saved, and not in force.'
            )}
          </span>
          <Button disabled={version === undefined && !form.dirty} busy={form.busy} onClick={drop}>
            Drop the draft
          </Button>
          <Button disabled={!form.dirty} busy={form.busy} onClick={() => void write()}>
            Save draft
          </Button>
          <Button kind="primary" disabled={lines.length === 0} onClick={() => setPublishing(true)}>
            Publish…
          </Button>
        </footer>
      )}
      {publishing && (
        <Dialog
          title={`Publish the policy of ${name}?`}
          wide
          onClose={() => setPublishing(false)}
          onSubmit={() => void publish()}
          footer={
            <>
              <Button onClick={() => setPublishing(false)}>Cancel</Button>
              <Button type="submit" kind="primary" busy={form.busy}>
                Publish
              </Button>
            </>
          }
        >
          <Table name="policy-diff" label="What changes" columns={DIFF} rows={lines} rowId={({ label }) => label} />
          {simulation && simulation.unserved > 0 && (
            <Notice tone="warn">
              {simulation.unserved} of {simulation.calls} simulated calls find no deployment.
            </Notice>
          )}
          <p class="quiet">It is in force everywhere within five seconds. The history leads back.</p>
        </Dialog>
      )}
    </div>
  )
}

const INHERITED = <span class="quiet">inherited</span>
const DIFF: ReadonlyArray<Column<Line>> = [
  { id: 'label', label: 'Setting', cell: ({ label }) => label },
  { id: 'now', label: 'In force', cell: ({ now }) => now ?? INHERITED },
  { id: 'next', label: 'Becomes', cell: ({ next }) => next ?? INHERITED },
]

const linesOf = (now: Policy, next: Policy): readonly Line[] =>
  SETTINGS.map(([key, label, unit]) => ({
    label,
    now: settingWords(now[key], unit),
    next: settingWords(next[key], unit),
  })).filter((line) => line.now !== line.next)
