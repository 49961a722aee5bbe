import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { messagesDialect } from '../../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../../src/api/dialects/responses.ts'
import { chat } from '../../../src/modes/chat.ts'
import { asMode, type ModelRequest } from '../../../src/modes/mode.ts'
import type { Dialect } from '../../../src/pipeline/translate/dialect.ts'
import { translatorOf } from '../../../src/pipeline/translate/translator.ts'
import type { Notes } from '../../../src/providers/provider.ts'
import { wholeBody } from '../../../src/transport/whole-body.ts'
import { deploymentOf } from '../../support/deployment-of.ts'
import { deepseek } from '../../support/strict-vendors/deepseek.ts'
import { fireworks } from '../../support/strict-vendors/fireworks.ts'
import { groq } from '../../support/strict-vendors/groq.ts'
import { moonshot } from '../../support/strict-vendors/moonshot.ts'

const fixture = (path: string) => new URL(`../../fixtures/${path}`, import.meta.url)

/** What the agents really send, shortened. */
const CLIENTS: Readonly<Record<string, Dialect>> = {
  'claude-code-title': messagesDialect,
  'claude-code-turn': messagesDialect,
  'claude-code-tool-search': messagesDialect,
  'codex-turn': responsesDialect,
}

/** A model of each kind of provider that is asked in chat. */
const MODELS = [
  'openai-compatible/llama-3.3-70b',
  'mistral/mistral-large-latest',
  'groq/openai/gpt-oss-120b',
  'gemini/gemini-2.5-pro',
  'gemini/gemini-3-pro',
  'bedrock/us.anthropic.claude-sonnet-4-5-v1:0',
  'bedrock/amazon.nova-pro-v1:0',
  'cohere/command-a-03-2025',
]
const PAIRS = Object.entries(CLIENTS).flatMap(([client, dialect]) => {
  const native = dialect === messagesDialect ? 'openai/gpt-4o' : 'anthropic/claude-sonnet-4-5'
  return [...MODELS, native].map((model) => [client, model, dialect] as const)
})

/** Vendors that have no server among the strict ones: they are asked here alone. */
const STRICT = {
  'deepseek/deepseek-v4-flash': deepseek,
  'fireworks/accounts/fireworks/models/glm-5': fireworks,
  'groq/openai/gpt-oss-120b': groq,
  'moonshot/kimi-k2.6': moonshot,
  'moonshot/kimi-k3': moonshot,
}

/** What the provider is asked, and what it is not told. */
async function asked(client: string, model: string, dialect: Dialect) {
  const bytes = readFileSync(fixture(`clients/${client}.json`))
  const body = dialect.schema().parse(JSON.parse(bytes.toString())) as ModelRequest
  const deployment = deploymentOf(model)
  const translator = translatorOf(deployment, asMode(chat), dialect)
  const notes: Notes = { dropped: undefined }
  const outgoing = { body, bytes, streamed: true, notes }
  const request = await translator?.request(outgoing, deployment.connection)
  const whole = request && wholeBody(request.body)
  const text = typeof whole === 'string' ? whole : new TextDecoder().decode(whole)
  return { refused: translator?.refuses?.(body)?.message, path: request?.path, body: JSON.parse(text), notes }
}

describe('an agent at a provider of another dialect', () => {
  it.each(PAIRS)('%s asks %s', async (client, model, dialect) => {
    const { refused, path, body, notes } = await asked(client, model, dialect)
    expect(refused).toBeUndefined()
    const seen = { path, dropped: [...(notes.dropped ?? [])], body }
    const place = `crossed/${client}/${model.replace(/[/:]/g, '-')}.golden`
    await expect(`${JSON.stringify(seen, null, 2)}\n`).toMatchFileSnapshot(fixture(place).pathname)
  })

  it.each(Object.keys(CLIENTS))('%s is refused by no vendor', async (client) => {
    for (const [model, vendor] of Object.entries(STRICT)) {
      const { path, body } = await asked(client, model, CLIENTS[client] as Dialect)
      if (!path?.endsWith('/chat/completions')) continue
      const headers = { authorization: 'Bearer sk-vendor' }
      expect(vendor({ path: '/v1/chat/completions', headers, body }, 1).pieces.length).toBeGreaterThan(1)
    }
  })
})
