import { useState } from 'preact/hooks'
import { useParams } from '../../data/params.ts'
import { keep, kept } from '../../data/settings.ts'
import { Button } from '../button.tsx'
import { confirmed } from '../confirmed.ts'
import { Dialog } from '../dialog.tsx'
import { TextField } from '../form/fields.tsx'
import { useForm } from '../form/form.tsx'
import { FormDialog } from '../form/form-dialog.tsx'
import { Menu } from '../menu.tsx'

/** An address of a page under a name, kept in this browser. */
interface View {
  readonly name: string
  /** The parameters of the address, without the open record. */
  readonly search: string
}

const MOST = 50
const keyOf = (page: string) => `views:${page}`

/** The views of a page that somebody keeps: open one, keep this one, forget one. */
export function Views({ page }: { readonly page: string }) {
  const params = useParams()
  const [views, setViews] = useState(() => kept<readonly View[]>(keyOf(page), []))
  const [editing, setEditing] = useState<'add' | 'forget'>()
  const search = new URLSearchParams(params.with({ open: undefined }).split('?')[1] ?? '')
  search.sort()
  const here = search.toString()
  const current = views.find((view) => view.search === here)
  const change = (next: readonly View[]) => {
    setViews(next)
    keep(keyOf(page), next)
  }
  return (
    <>
      <Menu
        label="Views"
        class="button plain small"
        items={[
          ...views.map(({ name, search: to }) => ({
            label: name,
            checked: to === here,
            onSelect: () => params.go(to),
          })),
          ...(views.length > 0 ? [null] : []),
          { label: 'Keep this view…', onSelect: () => setEditing('add') },
          ...(views.length > 0 ? [{ label: 'Forget views…', onSelect: () => setEditing('forget') }] : []),
        ]}
      >
        {current?.name ?? 'Views'}
      </Menu>
      {editing === 'add' && (
        <Adding
          views={views}
          onClose={() => setEditing(undefined)}
          onAdd={(name) => {
            const others = views.filter((view) => view.name !== name)
            change([...others, { name, search: here }].toSorted((a, b) => a.name.localeCompare(b.name)))
          }}
        />
      )}
      {editing === 'forget' && (
        <Dialog title="Forget views" onClose={() => setEditing(undefined)}>
          <ul class="stack plain-list">
            {views.map((view) => (
              <li key={view.name} class="row">
                <span class="grow cut">{view.name}</span>
                <Button
                  small
                  label={`Forget ${view.name}`}
                  icon="close"
                  kind="plain"
                  onClick={() => {
                    const next = views.filter((one) => one !== view)
                    change(next)
                    if (next.length === 0) setEditing(undefined)
                  }}
                />
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  )
}

function Adding({
  views,
  onAdd,
  onClose,
}: {
  readonly views: readonly View[]
  readonly onAdd: (name: string) => void
  readonly onClose: () => void
}) {
  const form = useForm({ name: '' })
  async function save(): Promise<void> {
    const name = form.values.name.trim()
    const isKnown = views.some((view) => view.name === name)
    const isDone = await form.submit(async () => {
      const wrong = (text: string) => Object.assign(new Error(text), { param: 'name' })
      if (name === '') throw wrong('Give it a name.')
      if (!isKnown && views.length >= MOST) throw wrong(`There are ${MOST} already: remove one first.`)
    })
    if (!isDone) return
    if (
      isKnown &&
      !(await confirmed({ title: `Replace ${name}?`, body: 'It will open this view.', action: 'Replace' }))
    )
      return
    onAdd(name)
    onClose()
  }
  return (
    <FormDialog form={form} title="Keep this view" save="Keep" onSave={save} onClose={onClose} always>
      <TextField
        form={form}
        name="name"
        label="Name"
        placeholder="Failed calls of search"
        hint="Filters, range and columns of the address, in this browser. To share it, copy the address."
      />
    </FormDialog>
  )
}
