import { useEffect, useRef, useState } from 'preact/hooks'
import { refresh, useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { NumberField, SelectField, TextField } from '../../design/form/fields.tsx'
import { Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import type { Policy, PolicyState, Simulation, Strategy } from './group.ts'
import { type EditedPolicy, usePolicyDraft } from './policy-draft.ts'
import { changesOf, PublishDialog } from './publish-dialog.tsx'
import { Simulated } from './simulated.tsx'
import { STRATEGIES } from './strategies.ts'
import { Traffic } from './traffic.tsx'

const AT = '/ui/api/route-groups'

/** The settings of router_settings, by name. */
type Inherited = Readonly<Record<string, unknown>>

/** The policy in force beside a draft of the next one. */
export function PolicyEditor({ state }: { readonly state: PolicyState }) {
  const { name, published } = state
  const allowed = useMay()
  const mayChange = allowed('config.update')
  const edited = usePolicyDraft(state)
  const inherited = useApi(`POST ${AT}/{name}/policy/validate`, { params: { name }, body: {} }, { enabled: mayChange })
  const [simulation, setSimulation] = useState<Simulation>()
  const [publishing, setPublishing] = useState(false)
  const inForce: Policy = published?.policy ?? {}
  const base: Inherited = inherited.data?.effective ?? {}
  const changes = changesOf(inForce, edited.policy)
  const askToPublish = () => setPublishing(true)
  usePublishKey(() => mayChange && changes.length > 0 && askToPublish())

  async function publish(): Promise<void> {
    const done = await edited.publish()
    setPublishing(false)
    if (!done) return
    toast('Published. It is in force everywhere within five seconds.')
    await refresh(AT)
  }

  return (
    <div class="stack">
      <Conflict edited={edited} />
      <Section
        title={published ? `Strategy · version ${published.version} in force` : 'Strategy · nothing published yet'}
      >
        <StrategyChoice
          form={edited.form}
          inForce={inForce.routing_strategy ?? null}
          inherited={base.routing_strategy}
          disabled={!mayChange}
        />
      </Section>
      <Section title="Time, retries, hedging">
        <SettingFields form={edited.form} inherited={base} />
      </Section>
      <Simulated name={name} policy={edited.policy} onResult={setSimulation} />
      {published && allowed('spend.read') && <Traffic name={name} since={published.published_at} />}
      {mayChange && <Foot edited={edited} isChange={changes.length > 0} onPublish={askToPublish} />}
      {publishing && (
        <PublishDialog
          name={name}
          changes={changes}
          simulation={simulation}
          busy={edited.form.busy}
          onClose={() => setPublishing(false)}
          onPublish={() => void publish()}
        />
      )}
    </div>
  )
}

/** Ctrl or ⌘ with Enter, while no dialog is open. */
function usePublishKey(pressed: () => void): void {
  const latest = useRef(pressed)
  latest.current = pressed
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
}

function Conflict({ edited: { conflict, loadTheirs, keepMine } }: { readonly edited: EditedPolicy }) {
  if (!conflict) return null
  return (
    <Notice
      tone="warn"
      actions={
        <>
          <Button small onClick={() => loadTheirs(conflict)}>
            Load theirs
          </Button>
          <Button small onClick={() => keepMine(conflict)}>
            Keep mine
          </Button>
        </>
      }
    >
      Somebody else has changed the draft meanwhile.
    </Notice>
  )
}

function StrategyChoice({
  form,
  inForce,
  inherited,
  disabled,
}: {
  readonly form: EditedPolicy['form']
  readonly inForce: Strategy | null
  readonly inherited: unknown
  readonly disabled: boolean
}) {
  const choices: readonly (Strategy | null)[] = [null, ...(Object.keys(STRATEGIES) as Strategy[])]
  return (
    <ul class="choices">
      {choices.map((one) => (
        <li key={one}>
          <button
            type="button"
            class="choice"
            disabled={disabled}
            aria-pressed={form.values.routing_strategy === one}
            onClick={() => form.set('routing_strategy', one)}
          >
            <b>
              {one ?? 'Inherit'}
              {inForce === one && <span> · in force</span>}
            </b>
            <span>{one ? STRATEGIES[one] : `As router_settings say: ${inherited ?? '…'}.`}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function SettingFields({ form, inherited }: { readonly form: EditedPolicy['form']; readonly inherited: Inherited }) {
  const like = (key: string) => `${inherited[key] ?? 'off'}, inherited`
  return (
    <div class="fields">
      <div class="pair">
        <NumberField form={form} name="timeout" label="Timeout of an attempt" unit="s" placeholder={like('timeout')} />
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
  )
}

interface FootProps {
  readonly edited: EditedPolicy
  /** Publishing the draft would change something. */
  readonly isChange: boolean
  readonly onPublish: () => void
}

function Foot({ edited, isChange, onPublish }: FootProps) {
  const { form, version, save, drop } = edited
  return (
    <footer class="form-foot">
      <span class="grow quiet">
        <Standing edited={edited} isChange={isChange} />
      </span>
      <Button disabled={version === undefined && !form.dirty} busy={form.busy} onClick={drop}>
        Drop the draft
      </Button>
      <Button disabled={!form.dirty} busy={form.busy} onClick={() => void save()}>
        Save draft
      </Button>
      <Button kind="primary" disabled={!isChange} onClick={onPublish}>
        Publish…
      </Button>
    </footer>
  )
}

/** Whether the draft is saved, or why it could not be. */
function Standing({ edited: { form, version }, isChange }: Pick<FootProps, 'edited' | 'isChange'>) {
  if (form.problem) {
    return (
      <span class="wrong" role="alert">
        {form.problem}
      </span>
    )
  }
  if (!isChange) return 'The draft equals the policy in force.'
  if (form.dirty) return 'Not saved.'
  return version === undefined ? null : 'The draft is saved. It is not in force yet.'
}
