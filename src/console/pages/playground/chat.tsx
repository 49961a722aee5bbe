import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useParams } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { SentPrompt } from '../../design/call/sent-prompt.tsx'
import { CheckField, NumberField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { useMedia } from '../../design/panel.tsx'
import { jsonOf } from './call.ts'
import { CodeDialog, type Example } from './code-dialog.tsx'
import { type Asking, messagesOf, type Turn, useConversation } from './conversation.ts'
import { ModelField } from './model-field.tsx'
import { PromptField } from './prompt-field.tsx'
import { useRunKeys } from './run-keys.ts'
import { Turns } from './turns.tsx'

const INITIAL = {
  system: '',
  stream: true,
  explain: false,
  temperature: null as number | null,
  top_p: null as number | null,
  max_tokens: null as number | null,
  tools: '',
  prompt: '',
  variables: '',
  more: '',
}

const TOOL_EXAMPLE =
  '[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]'

/** A conversation, with one model or with two beside each other. */
export function Chat({
  keyId,
  models,
  onModel,
}: {
  readonly keyId: string
  readonly models: readonly string[]
  readonly onModel: (index: number, model: string) => void
}) {
  const may = useMay()
  const params = useParams()
  // A call that is repeated comes with what is known of it.
  const form = useForm(
    { ...INITIAL, stream: params.get('stream') !== '0', prompt: params.get('prompt') },
    { asks: false },
  )
  const sides = [useConversation(), useConversation()].slice(0, models.length)
  const [draft, setDraft] = useState('')
  const [example, setExample] = useState<Example>()
  const box = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const isWide = useMedia('(min-width: 1100px)')
  const isRunning = sides.some(({ running }) => running)

  function asking(model: string): Asking {
    const { system, stream, explain, temperature, top_p, max_tokens, prompt } = form.values
    const tools = jsonOf(form.values.tools, 'tools', 'list')
    const variables = jsonOf(form.values.variables, 'variables', 'object')
    const more = jsonOf(form.values.more, 'more', 'object') as object | undefined
    const numbers = Object.entries({ temperature, top_p, max_tokens }).filter(([, value]) => value !== null)
    return {
      keyId,
      explain,
      system,
      body: {
        model,
        ...(stream && { stream }),
        ...Object.fromEntries(numbers),
        ...(tools !== undefined && { tools }),
        ...(prompt && {
          metadata: { prompt_ref: prompt, ...(variables !== undefined && { prompt_variables: variables }) },
        }),
        ...more,
      },
    }
  }
  /** What was typed wrongly is shown at its field, and nothing is called. */
  const say = (only: number | undefined, said: readonly Turn[]) =>
    form.submit(async () => {
      const asked = models.map(asking)
      if (only === undefined) setDraft('')
      sides.forEach((side, index) => {
        if (only === undefined || only === index) void side.ask(asked[index] as Asking, said)
      })
    })
  const isReady = models.every(Boolean) && !isRunning
  function send(): void {
    const text = draft.trim()
    if (text !== '' && isReady) void say(undefined, [{ role: 'user', text }])
  }
  const stop = () => {
    for (const side of sides) side.stop()
  }
  const clear = () => {
    for (const side of sides) side.clear()
  }
  useRunKeys({ run: send, stop: isRunning ? stop : undefined })
  useEffect(() => box.current?.focus({ preventScroll: true }), [])

  const showCode = () =>
    form.submit(async () => {
      const { body, system } = asking(models[0] ?? '')
      const turns: readonly Turn[] = [
        ...(sides[0]?.turns ?? []),
        ...(draft ? [{ role: 'user' as const, text: draft }] : []),
      ]
      setExample({ endpoint: 'chat/completions', body: { ...body, messages: messagesOf(turns, system) } })
    })
  const hasTurns = sides.some(({ turns }) => turns.length > 0)
  return (
    <div class="play">
      <div class="play-main">
        <div class="columns">
          {sides.map((side, index) => (
            <section key={index} class="stack" aria-label={models.length > 1 ? `Model ${index + 1}` : 'Conversation'}>
              <ModelField
                keyId={keyId}
                mode="chat"
                label={index === 0 ? 'Model' : 'Second model'}
                value={models[index] ?? ''}
                onChange={(model) => onModel(index, model)}
              />
              <Turns of={side} onSay={(said) => say(index, said)} onAgain={() => say(index, [])} />
            </section>
          ))}
        </div>
        <p class="visually-hidden" role="status">
          {isRunning ? 'The model answers.' : hasTurns ? 'The answer is complete.' : ''}
        </p>
        <div class="play-box">
          <label class="visually-hidden" for={id}>
            Message
          </label>
          <textarea
            ref={box}
            id={id}
            class="input"
            rows={3}
            placeholder="Say hello in three languages."
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
          <div class="row">
            {isRunning ? (
              <Button onClick={stop}>Stop</Button>
            ) : (
              <Button kind="primary" disabled={!isReady || draft.trim() === ''} onClick={send}>
                Send
              </Button>
            )}
            <span class="quiet small grow">{isRunning ? 'Esc stops' : 'Ctrl or ⌘ + Enter sends'}</span>
            {hasTurns && (
              <Button kind="plain" onClick={clear}>
                Clear
              </Button>
            )}
            <Button kind="plain" onClick={showCode}>
              Code
            </Button>
          </div>
        </div>
      </div>
      <details class="play-settings" open={isWide}>
        <summary>Parameters</summary>
        <div class="fields">
          <TextField form={form} name="system" label="System message" lines={3} />
          <CheckField form={form} name="stream" label="Stream the answer" />
          <NumberField
            form={form}
            name="temperature"
            label="Temperature"
            min={0}
            max={2}
            step={0.1}
            placeholder="the model's own"
          />
          <NumberField
            form={form}
            name="top_p"
            label="Top p"
            min={0}
            max={1}
            step={0.05}
            placeholder="the model's own"
          />
          <NumberField
            form={form}
            name="max_tokens"
            label="Output tokens, at most"
            min={1}
            step={1}
            placeholder="the model's own"
          />
          <TextField
            form={form}
            name="tools"
            label="Tools"
            hint="A JSON list."
            lines={4}
            mono
            placeholder={TOOL_EXAMPLE}
          />
          {may('config.read') && (
            <>
              <PromptField value={form.values.prompt} onChange={(reference) => form.set('prompt', reference)} />
              {form.values.prompt && (
                <TextField
                  form={form}
                  name="variables"
                  label="Variables"
                  hint="A JSON object."
                  lines={3}
                  mono
                  placeholder='{"shop": "Knots & Ropes"}'
                />
              )}
              {form.values.prompt && <PromptSent reference={form.values.prompt} variables={form.values.variables} />}
              <CheckField form={form} name="explain" label="Explain why a deployment was taken" />
            </>
          )}
          <TextField
            form={form}
            name="more"
            label="More of the body"
            hint="A JSON object. It wins over what is set above."
            lines={3}
            mono
            placeholder='{"response_format": {"type": "json_object"}}'
          />
        </div>
      </details>
      {example && <CodeDialog example={example} onClose={() => setExample(undefined)} />}
    </div>
  )
}

/** What the prompt says before the conversation, as the call would send it. */
function PromptSent({ reference, variables }: { readonly reference: string; readonly variables: string }) {
  let values: unknown
  try {
    values = variables.trim() === '' ? {} : JSON.parse(variables)
  } catch {
    return <p class="quiet small">The variables are not JSON yet.</p>
  }
  return (
    <SentPrompt
      label="What the prompt says"
      asked={{ prompt_ref: reference, values: values as Record<string, unknown> }}
    />
  )
}
