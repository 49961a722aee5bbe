import { callableNames } from '../../data/callable-names.ts'
import type { Form, Values } from './form.tsx'
import { NamesField } from './names-field.tsx'

interface Access extends Values {
  readonly mode: string
  readonly models: readonly string[]
  readonly access_groups: readonly string[]
}

/** What a restricted key, team or organization may call: models by name and by label. Nothing while it is not restricted. */
export function AccessFields<Fields extends Access>({ form }: { readonly form: Form<Fields> }) {
  const { mode, models, access_groups } = form.values
  if (mode !== 'restrict') return null
  return (
    <>
      <NamesField form={form} name="models" label="Models and route groups" search={callableNames('target')} />
      <NamesField
        form={form}
        name="access_groups"
        label="Labels"
        hint="Every model that has the label, also later ones."
        search={callableNames('access_group')}
      />
      {models.length + access_groups.length === 0 && <p class="quiet">Without any, nothing may be called.</p>}
    </>
  )
}
