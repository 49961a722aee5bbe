import type { ComponentChildren } from 'preact'
import { Dialog } from '../dialog.tsx'
import { FormFoot } from './fields.tsx'
import type { Form, Values } from './form.tsx'

/** A dialog with one form, which shows a refusal below the fields. */
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
  /** The label of the submit button. */
  readonly save: string
  readonly onSave: () => unknown
  readonly onClose: () => void
  /** It can be submitted without changes. */
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
