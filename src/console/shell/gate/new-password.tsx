import { TextField } from '../../design/form/fields.tsx'
import type { Form } from '../../design/form/form.tsx'

const SHORTEST = 12

/** A new password, with what our rules say of it while it is typed. The gateway has the last word. */
export function NewPassword<Fields extends Readonly<Record<string, unknown>>>({
  form,
  name,
  email,
}: {
  readonly form: Form<Fields>
  readonly name: keyof Fields & string
  readonly email: string | null | undefined
}) {
  const length = [...String(form.get(name) ?? '').normalize('NFKC')].length
  const part = email?.split('@')[0]?.toLowerCase() ?? ''
  const told =
    length > 0 && length < SHORTEST
      ? `${SHORTEST - length} more ${SHORTEST - length === 1 ? 'character' : 'characters'}.`
      : part.length >= 3 && String(form.get(name)).toLowerCase().includes(part)
        ? 'It contains the name in your e-mail address.'
        : length >= SHORTEST
          ? 'Long enough.'
          : `At least ${SHORTEST} characters; a few words are easier to remember than signs.`
  return (
    <TextField form={form} name={name} label="New password" type="password" autoComplete="new-password" hint={told} />
  )
}
