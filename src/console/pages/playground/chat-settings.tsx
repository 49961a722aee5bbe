import { useParams } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { SentPrompt } from '../../design/call/sent-prompt.tsx'
import { CheckField, NumberField, TextField } from '../../design/form/fields.tsx'
import { type Form, useForm } from '../../design/form/form.tsx'
import { useMedia } from '../../design/panel.tsx'
import { jsonOf } from './call.ts'
import type { Asking } from './conversation.ts'
import { PromptField } from './prompt-field.tsx'

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

type Settings = typeof INITIAL

/** The settings of a conversation. The address of a repeated call has some of them. */
export function useChatSettings(): Form<Settings> {
  const params = useParams()
  return useForm({ ...INITIAL, stream: params.get('stream') !== '0', prompt: params.get('prompt') }, { asks: false })
}

/** A call with these settings, without its messages. Throws for a field whose text is not JSON. */
export function callOf(settings: Settings, keyId: string, model: string): Asking {
  const { system, stream, explain, temperature, top_p, max_tokens, prompt } = settings
  const tools = jsonOf(settings.tools, 'tools', 'list')
  const variables = jsonOf(settings.variables, 'variables', 'object')
  const more = jsonOf(settings.more, 'more', 'object') as object | undefined
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

export function ChatSettings({ form }: { readonly form: Form<Settings> }) {
  const may = useMay()
  const isWide = useMedia('(min-width: 1100px)')
  return (
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
        <NumberField form={form} name="top_p" label="Top p" min={0} max={1} step={0.05} placeholder="the model's own" />
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
