import { useChange } from '../../data/change.ts'
import { api, type Row } from '../../data/client.ts'
import { useVersion } from '../../data/version.ts'
import { BudgetFields, budgetAndLimitsOf, LimitFields } from '../../design/form/budget-and-limits.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { toast } from '../../design/toast.tsx'

export type Organization = Row<'GET /ui/api/organizations'>

/** Creates an organization, or changes one. */
export function OrganizationDialog({
  organization,
  onClose,
  onDone,
}: {
  readonly organization?: Organization
  readonly onClose: () => void
  readonly onDone: (organization: Organization) => void
}) {
  const form = useForm({
    organization_name: organization?.organization_name ?? null,
    ...budgetAndLimitsOf(organization),
  })
  const refreshes = ['/ui/api/organizations']
  const created = useChange('POST /ui/api/organizations', { refreshes })
  const changed = useChange('PATCH /ui/api/organizations/{organization_id}', { refreshes })
  const params = { organization_id: organization?.organization_id ?? '' }
  const read = () => api('GET /ui/api/organizations/{organization_id}', { params })
  const over = useVersion(organization, refreshes, read)
  async function save(): Promise<void> {
    let written: Organization | undefined
    const done = await form.submit(async () => {
      const body = form.changes()
      written = organization
        ? await over((version) => changed.mutateAsync({ params, body: { ...body, version } }))
        : await created.mutateAsync({ body })
    })
    if (!done || !written) return
    const name = written.organization_name ?? written.organization_id
    toast(organization ? 'Saved. It applies from the next call on.' : `${name} is created.`)
    onDone(written)
  }
  return (
    <FormDialog
      form={form}
      title={
        organization ? `Edit ${organization.organization_name ?? organization.organization_id}` : 'New organization'
      }
      save={organization ? 'Save' : 'Create'}
      onSave={save}
      onClose={onClose}
      always={!organization}
    >
      <TextField form={form} name="organization_name" label="Name" nullable placeholder="Research" />
      <h3>Budget of all its teams together</h3>
      <BudgetFields form={form} />
      <h3>Limits of all its teams together</h3>
      <LimitFields form={form} />
    </FormDialog>
  )
}
