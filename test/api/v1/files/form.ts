/** A form of a file's upload, as a platform writes it. */
export interface FileForm {
  readonly file?: string | Uint8Array<ArrayBuffer> | undefined
  readonly filename?: string
  readonly fields?: Readonly<Record<string, string>>
  /** They follow the file. */
  readonly late?: Readonly<Record<string, string>>
}

export const LINE = JSON.stringify({
  custom_id: 'a',
  method: 'POST',
  url: '/v1/embeddings',
  body: { model: 'm', input: 'x' },
})

export function formOf({
  file = `${LINE}\n`,
  filename = 'in.jsonl',
  fields = { purpose: 'batch' },
  late = {},
}: FileForm): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new File([file], filename))
  for (const [name, value] of Object.entries(late)) form.append(name, value)
  return form
}
