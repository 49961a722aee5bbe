import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { Section } from '../../design/page.tsx'
import { LabelDialog } from './label-dialog.tsx'
import { type Prompt, REFRESHES } from './prompt.ts'

/** Which version each label names, and the moves of labels. */
export function Labels({ prompt }: { readonly prompt: Prompt }) {
  const may = useMay()
  const [moving, setMoving] = useState<string>()
  const drop = useChange('DELETE /ui/api/prompts/{key}/labels/{label}', REFRESHES)
  const back = useChange('POST /ui/api/prompts/{key}/roll-back', REFRESHES)
  const { key, labels, former_labels: former, latest } = prompt
  const names = Object.keys(labels).sort()
  const allowed = may('config.update') && prompt.state === 'active'
  async function toRollBack(label: string, version: number): Promise<void> {
    const question = {
      title: `Roll ${label} back to version ${version}?`,
      body: `Calls of ${callsOf(key, label)} get version ${version} within five seconds. Doing it again brings version ${labels[label]} back.`,
      action: 'Roll back',
      done: `${label} names version ${version} again.`,
    }
    await performed(question, () => back.mutateAsync({ params: { key }, body: { label } }))
  }
  async function toDrop(label: string): Promise<void> {
    const question = {
      title: `Drop the label ${label}?`,
      body:
        label === 'production'
          ? `Calls of ${key} then get the newest version, which is ${latest}. Calls of ${key}:production are refused.`
          : `Calls of ${key}:${label} are refused then.`,
      action: 'Drop',
      danger: true,
      done: `${label} is dropped.`,
    }
    await performed(question, () => drop.mutateAsync({ params: { key, label } }))
  }
  return (
    <Section
      title="Labels"
      level={3}
      actions={
        allowed && (
          <Button small icon="plus" onClick={() => setMoving('')}>
            New label
          </Button>
        )
      }
    >
      {names.length === 0 && <p class="quiet">It has none.</p>}
      <ul class="events">
        {names.map((label) => {
          const [version, before] = [labels[label], former[label]]
          return (
            <li key={label} aria-label={label}>
              <span class="row">
                <b>{label}</b> → version {version}
                {before !== undefined && before !== version && <span class="quiet">before that {before}</span>}
              </span>
              {allowed && (
                <span class="row">
                  <Button small label={`Move ${label}`} onClick={() => setMoving(label)}>
                    Move
                  </Button>
                  {before !== undefined && before !== version && (
                    <Button small onClick={() => toRollBack(label, before)}>
                      Roll back to {before}
                    </Button>
                  )}
                  <Button small kind="plain" label={`Drop ${label}`} onClick={() => toDrop(label)}>
                    Drop
                  </Button>
                </span>
              )}
            </li>
          )
        })}
      </ul>
      <p class="quiet small">
        A call of {key} gets the version with the label production
        {labels.production === undefined ? `; there is none, so it gets the newest, which is ${latest}.` : '.'}
      </p>
      {moving !== undefined && <LabelDialog prompt={prompt} label={moving} onClose={() => setMoving(undefined)} />}
    </Section>
  )
}

/** The names by which calls mean what a label names. */
const callsOf = (key: string, label: string): string =>
  label === 'production' ? `${key} and ${key}:production` : `${key}:${label}`
