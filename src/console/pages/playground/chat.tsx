import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { ChatSettings, callOf, useChatSettings } from './chat-settings.tsx'
import { CodeDialog, type Example } from './code-dialog.tsx'
import { type Asking, messagesOf, type Turn, useConversation } from './conversation.ts'
import { ModelField } from './model-field.tsx'
import { useRunKeys } from './run-keys.ts'
import { Turns } from './turns.tsx'

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
  const form = useChatSettings()
  const sides = [useConversation(), useConversation()].slice(0, models.length)
  const [draft, setDraft] = useState('')
  const [example, setExample] = useState<Example>()
  const box = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const isRunning = sides.some(({ running }) => running)

  /** Sends turns to all models, or only to one. A mistake in the settings is shown at its field, and nothing is sent. */
  const say = (only: number | undefined, said: readonly Turn[]) =>
    form.submit(async () => {
      const calls = models.map((model) => callOf(form.values, keyId, model))
      if (only === undefined) setDraft('')
      sides.forEach((side, index) => {
        if (only === undefined || only === index) void side.ask(calls[index] as Asking, said)
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
      const { body, system } = callOf(form.values, keyId, models[0] ?? '')
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
      <ChatSettings form={form} />
      {example && <CodeDialog example={example} onClose={() => setExample(undefined)} />}
    </div>
  )
}
