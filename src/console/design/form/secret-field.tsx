import { useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { type Common, setter, TextField } from './fields.tsx'
import type { Values } from './form.tsx'

/** A secret that is kept: it is never shown again, only replaced. Without a replacement it is not sent. */
export function SecretField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  isSet,
  since,
}: Common<Fields> & { readonly isSet: boolean; readonly since?: string | undefined }) {
  const [replacing, setReplacing] = useState(!isSet)
  if (replacing) {
    return (
      <div class="affix">
        <div class="grow">
          <TextField form={form} name={name} label={label} hint={hint} type="password" autoComplete="off" mono />
        </div>
        {isSet && (
          <Button
            small
            kind="plain"
            onClick={() => {
              setter(form, name)(undefined)
              setReplacing(false)
            }}
          >
            Keep the old one
          </Button>
        )}
      </div>
    )
  }
  return (
    <div class="field">
      <span class="label">{label}</span>
      <span class="row">
        <span class="quiet">Set{since ? `, last changed ${since}` : ''}</span>
        <Button small onClick={() => setReplacing(true)}>
          Replace
        </Button>
      </span>
    </div>
  )
}
