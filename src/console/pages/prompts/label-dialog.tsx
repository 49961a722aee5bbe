import { useChange } from '../../data/change.ts'
import { SelectField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { toast } from '../../design/toast.tsx'
import { Diff } from './diff.tsx'
import { type Prompt, REFRESHES } from './prompt.ts'

const MOST = 200

/** Moves a label to another version, with what changes for its calls; without a label: makes one. */
export function LabelDialog({
  prompt,
  label,
  onClose,
}: {
  readonly prompt: Prompt
  readonly label: string
  readonly onClose: () => void
}) {
  const { key, labels, latest } = prompt
  const now = labels[label]
  const newest = Array.from({ length: Math.min(latest, MOST) }, (_, at) => latest - at)
  const options = newest
    .filter((version) => version !== now)
    .map((version) => ({ value: String(version), label: version === latest ? `${version} · newest` : String(version) }))
  const form = useForm({ label, version: options[0]?.value ?? '' })
  const move = useChange('PUT /ui/api/prompts/{key}/labels/{label}', REFRESHES)
  const version = Number(form.get('version'))
  const name = form.get('label').trim()
  const from = labels[name]
  async function save(): Promise<void> {
    const done = await form.submit(() => move.mutateAsync({ params: { key, label: name }, body: { version } }))
    if (!done) return
    toast(`${name} names version ${version}. Calls get it within five seconds.`)
    onClose()
  }
  return (
    <FormDialog
      form={form}
      title={label ? `Move ${label}` : 'New label'}
      save={from === undefined ? 'Make' : 'Move'}
      onSave={save}
      onClose={onClose}
      always
      wide={from !== undefined}
    >
      {!label && (
        <TextField
          form={form}
          name="label"
          label="Label"
          placeholder="staging"
          hint="Calls that give only the key get production."
        />
      )}
      {options.length === 0 ? (
        <p class="quiet">There is no other version to move it to.</p>
      ) : (
        <SelectField form={form} name="version" label="Version" options={options} />
      )}
      {from !== undefined && from !== version && version > 0 && (
        <div class="field">
          <span class="label">
            What changes for its calls, from version {from} to {version}
          </span>
          <Diff prompt={prompt} from={from} to={version} />
        </div>
      )}
    </FormDialog>
  )
}
