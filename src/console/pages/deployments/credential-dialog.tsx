import { useChange } from '../../data/change.ts'
import { useApi } from '../../data/query.ts'
import { Dialog } from '../../design/dialog.tsx'
import { LookupField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Loaded } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { Setting } from './connection-block.tsx'
import { AFTER_CREDENTIAL, type Credential, draftOfCredential, heldFields } from './credential.ts'
import type { ProviderKind } from './deployment.ts'
import { atField, labelOf, typedParams } from './draft.ts'

interface DialogProps {
  readonly credential?: Credential
  readonly onClose: () => void
  readonly onDone: (name: string) => void
}

/** Makes a credential, or changes one: its secrets, and where they are for. */
export function CredentialDialog(props: DialogProps) {
  const kinds = useApi('GET /ui/api/providers')
  return kinds.data ? (
    <Filled {...props} kinds={kinds.data.data} />
  ) : (
    <Dialog title={titleOf(props)} onClose={props.onClose}>
      <Loaded of={kinds}>{() => null}</Loaded>
    </Dialog>
  )
}

const titleOf = ({ credential }: DialogProps) => (credential ? `Change ${credential.name}` : 'New credential')

function Filled({ credential, onClose, onDone, kinds }: DialogProps & { readonly kinds: readonly ProviderKind[] }) {
  const form = useForm(draftOfCredential(credential))
  const create = useChange('POST /ui/api/credentials', AFTER_CREDENTIAL)
  const change = useChange('PATCH /ui/api/credentials/{name}', AFTER_CREDENTIAL)
  const kind = kinds.find((one) => one.kind === form.values.kind)
  const fields = heldFields(kind)
  async function save(): Promise<void> {
    const name = String(form.values.name).trim()
    const done = await form.submit(async () => {
      if (!kind) throw Object.assign(new Error('Choose a provider.'), { param: 'kind' })
      const params = typedParams(form.changes(), fields)
      try {
        if (credential) {
          const body = { gateway_params: params, version: credential.version }
          await change.mutateAsync({ params: { name }, body })
        } else {
          const gateway_params = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))
          await create.mutateAsync({ body: { name, provider: kind.kind, gateway_params } as never })
        }
      } catch (error) {
        throw atField(error)
      }
      return true
    })
    if (!done) return
    toast(
      credential
        ? `${name} is changed: its deployments follow within five seconds.`
        : `${name} is there: deployments can name it.`,
    )
    onDone(name)
  }
  const { credentials: sets = [] } = kind ?? {}
  return (
    <FormDialog
      form={form}
      title={titleOf({ ...(credential ? { credential } : {}), onClose, onDone })}
      save={credential ? 'Save' : 'Create'}
      onSave={save}
      onClose={onClose}
      always={!credential}
    >
      {credential ? (
        <p class="quiet">
          {credential.used_by === 0
            ? 'No deployment names it.'
            : `${credential.used_by === 1 ? 'One deployment follows' : `${credential.used_by} deployments follow`} within five seconds, in every process. Calls that run end as they began.`}
        </p>
      ) : (
        <>
          <TextField
            form={form}
            name="name"
            label="Name"
            hint="The name that deployments use. It cannot be changed."
            placeholder="openai-main"
            mono
          />
          <LookupField
            form={form}
            name="kind"
            label="Provider"
            placeholder={`Search ${kinds.length} providers`}
            choices={kinds.map(({ kind: value, label }) => ({ value, label }))}
          />
        </>
      )}
      {sets.length > 1 && (
        <p class="quiet">One of these is needed: {sets.map((set) => set.map(labelOf).join(' with ')).join(', or ')}.</p>
      )}
      {kind &&
        fields.map((field) => (
          <Setting key={`${kind.kind} ${field.name}`} form={form} kind={kind} before={credential} field={field} />
        ))}
    </FormDialog>
  )
}
