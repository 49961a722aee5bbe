import { Icon } from '../icons.tsx'
import { Combobox, type Search } from './combobox.tsx'
import { type Common, setter } from './fields.tsx'
import { Field, type Values } from './form.tsx'

/** Several of many, each a chip that can be taken out again. */
export function NamesField<Fields extends Values>({
  form,
  name,
  label,
  hint,
  search,
  placeholder,
}: Common<Fields> & { readonly search: Search; readonly placeholder?: string }) {
  const names = form.get(name) as readonly string[]
  const set = setter(form, name)
  return (
    <Field form={form} name={name} label={label} hint={hint}>
      {(control) => (
        <span class="names">
          {names.map((one) => (
            <span class="chip" key={one}>
              <span class="what value">{one}</span>
              <button
                type="button"
                aria-label={`Take out ${one}`}
                onClick={() => set(names.filter((other) => other !== one))}
              >
                <Icon name="close" />
              </button>
            </span>
          ))}
          <Combobox
            id={control.id}
            invalid={control['aria-invalid']}
            describedBy={control['aria-describedby']}
            value=""
            free
            placeholder={placeholder}
            search={async (text) => (await search(text)).filter(({ value }) => !names.includes(value))}
            onChange={(option) => option && set([...new Set([...names, option.value])])}
          />
        </span>
      )}
    </Field>
  )
}
