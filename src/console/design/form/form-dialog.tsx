import type { ComponentChildren } from 'preact'
import { Dialog } from '../dialog.tsx'
import { FormFoot } from './fields.tsx'
import type { Form, Values } from './form.tsx'

/** A dialog that asks for the fields of one form, and says below them why it was refused. */
export function FormDialog<Fields extends Values>({
  form,
  title,
  save,
  onSave,
  onClose,
  always = false,
  wide = false,
  children,
}: {
  readonly form: Form<Fields>
  readonly title: string
  /** What the button says that does it. */
  readonly save: string
  readonly onSave: () => unknown
  readonly onClose: () => void
  /** It may be sent also where nothing was changed. */
  readonly always?: boolean
  readonly wide?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void onSave()}
      wide={wide}
      footer={<FormFoot form={form} save={save} onCancel={onClose} always={always} />}
    >
      <div class="fields">{children}</div>
    </Dialog>
  )
}
