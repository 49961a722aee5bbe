import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { SentPrompt } from '../../design/call/sent-prompt.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { NamesField } from '../../design/form/names-field.tsx'
import { Section } from '../../design/page.tsx'
import { toast } from '../../design/toast.tsx'
import {
  type DraftMessage,
  type DraftVariable,
  declarationsOf,
  draftMessages,
  draftVariables,
  messagesOf,
  newMessage,
  variablesOf,
} from './draft.ts'
import { MessageFields } from './message-fields.tsx'
import { type Prompt, REFRESHES, type Version } from './prompt.ts'
import { namesIn } from './template.ts'
import { ValueFields } from './value-fields.tsx'
import { valuesOf } from './values.ts'
import { VariableFields } from './variable-fields.tsx'

/** Writes a prompt, or the next version of one, which begins as the version that is given. */
export function PromptEditor({
  base,
  onClose,
  onDone,
}: {
  readonly base?: { readonly prompt: Prompt; readonly version: Version }
  readonly onClose: () => void
  readonly onDone: (prompt: Prompt) => void
}) {
  const [start] = useState(() => ({
    key: '',
    description: '',
    messages: (base ? draftMessages(base.version) : [newMessage('system')]) as readonly DraftMessage[],
    declared: (base ? draftVariables(base.version) : {}) as Readonly<Record<string, DraftVariable>>,
    note: '',
    labels: [] as readonly string[],
  }))
  const form = useForm(start)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const created = useChange('POST /ui/api/prompts', REFRESHES)
  const added = useChange('POST /ui/api/prompts/{key}/versions', REFRESHES)
  const { messages, declared } = form.values
  const drafts = variablesOf(messages, declared)
  const named = new Set(namesIn(messages.flatMap(({ texts }) => texts)))
  const variables = declarationsOf(drafts)
  const content = { messages: messagesOf(messages), variables }
  const begun = messages.filter(({ texts }) => texts.every((text) => text !== ''))
  const { prompt } = base ?? {}

  async function save(): Promise<void> {
    const { key, description, note, labels } = form.values
    const body = { ...content, note, labels: [...labels] }
    let written: Prompt | undefined
    const done = await form.submit(async () => {
      written = prompt
        ? await added.mutateAsync({ params: { key: prompt.key }, body })
        : await created.mutateAsync({ body: { ...body, key: key.trim(), description } })
    })
    if (!done || !written) return
    toast(prompt ? `Version ${written.latest} of ${prompt.key} is there.` : `${written.key} is there.`)
    onDone(written)
  }
  const known = [...new Set(['production', ...Object.keys(prompt?.labels ?? {})])]
  return (
    <FormDialog
      form={form}
      title={prompt ? `New version of ${prompt.key}` : 'New prompt'}
      save={prompt ? 'Add version' : 'Create'}
      onSave={save}
      onClose={onClose}
      always={!prompt}
      wide
    >
      {prompt ? (
        <p class="quiet">It begins as version {base?.version.version}. Versions that are there never change.</p>
      ) : (
        <div class="pair">
          <TextField
            form={form}
            name="key"
            label="Key"
            placeholder="support"
            hint="The name that calls use. It cannot be changed."
          />
          <TextField form={form} name="description" label="Description" />
        </div>
      )}
      <Section title="Messages" level={3}>
        <MessageFields messages={messages} onChange={(next) => form.set('messages', next)} />
      </Section>
      <Section title="Variables" level={3}>
        {Object.keys(drafts).length === 0 && (
          <p class="quiet">None yet: write {'{{name}}'} in a message where a value belongs.</p>
        )}
        {Object.entries(drafts).map(([name, draft]) => (
          <VariableFields
            key={name}
            name={name}
            draft={draft}
            isNamed={named.has(name)}
            onChange={(next) => form.set('declared', { ...declared, [name]: next })}
            onRemove={() =>
              form.set('declared', Object.fromEntries(Object.entries(declared).filter(([one]) => one !== name)))
            }
          />
        ))}
      </Section>
      <Section title="Preview" level={3}>
        {named.size > 0 && (
          <div class="pair">
            <ValueFields variables={variables} typed={typed} onChange={setTyped} />
          </div>
        )}
        {begun.length > 0 ? (
          <SentPrompt
            label="Preview"
            asked={{ messages: messagesOf(begun), variables, values: valuesOf(variables, typed) }}
          />
        ) : (
          <p class="quiet">Nothing is written yet.</p>
        )}
      </Section>
      <div class="pair">
        <TextField form={form} name="note" label="Note" placeholder="What changed, and why" />
        <NamesField
          form={form}
          name="labels"
          label="Labels"
          placeholder="Add a label"
          hint="They name this version from now on: calls of production get it within five seconds."
          search={async (text) =>
            known.filter((one) => one.includes(text)).map((label) => ({ value: label, label: label }))
          }
        />
      </div>
    </FormDialog>
  )
}
