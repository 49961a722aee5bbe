import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { type Content, GoogleGenAI } from '@google/genai'
import { AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { type Cohere, CohereClientV2 } from 'cohere-ai'
import OpenAI from 'openai'

/** Where a client asks, and with which key. */
export interface Place {
  readonly origin: string
  readonly key: string
  readonly model: string
}

const FILES: Readonly<Record<string, string>> = {
  '/notes/one.txt': 'Read the file /notes/two.txt: it has the word.',
  '/notes/two.txt': 'The word is heliotrope.',
}
const TASK = 'Read the file /notes/one.txt and do what it says. Answer with the word.'
export const WORD = 'heliotrope'

const name = 'read_file'
const description = 'Reads a file.'
const parameters = {
  type: 'object' as const,
  properties: { file_path: { type: 'string', description: 'The path of the file.' } },
  required: ['file_path'],
  additionalProperties: false,
}
const MOST_TURNS = 5

const read = (input: unknown) => FILES[(input as { file_path: string }).file_path] ?? 'There is no such file.'
const readAs = (text: string | undefined) => read(JSON.parse(text ?? '{}'))

/** An agent of a few lines over each official client: it streams, runs the tool that is called, and tells the result,
 *  until it is answered. */
export const AGENTS: Readonly<Record<string, (at: Place) => Promise<string>>> = {
  async openai({ origin, key, model }) {
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/v1`, maxRetries: 0 })
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: TASK },
    ]
    const tools = [{ type: 'function' as const, function: { name, description, parameters } }]
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      // What the client has made of the answer is no part of what OpenAI takes back.
      const stream = client.chat.completions.stream({ model, messages, tools })
      const { parsed: _, ...message } = (await stream.finalMessage()) as OpenAI.ChatCompletionMessage & {
        parsed?: unknown
      }
      if (!message.tool_calls?.length) return message.content ?? ''
      messages.push(message)
      for (const call of message.tool_calls) {
        if (call.type !== 'function') continue
        messages.push({ role: 'tool', tool_call_id: call.id, content: readAs(call.function.arguments) })
      }
    }
    return ''
  },

  async 'openai, Responses'({ origin, key, model }) {
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/v1`, maxRetries: 0 })
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: TASK }]
    const tools = [{ type: 'function' as const, name, description, parameters, strict: true }]
    const kept = {
      store: false,
      include: ['reasoning.encrypted_content' as const],
      reasoning: { effort: 'low' as const },
    }
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const asked = { model, instructions: 'Be brief.', input, tools, ...kept, stream: true as const }
      let response: OpenAI.Responses.Response | undefined
      for await (const event of await client.responses.create(asked)) {
        if (event.type === 'response.completed') response = event.response
      }
      if (!response) return ''
      const calls = response.output.filter((item) => item.type === 'function_call')
      if (calls.length === 0) return JSON.stringify(response.output)
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]))
      for (const { call_id, arguments: text } of calls) {
        input.push({ type: 'function_call_output', call_id, output: readAs(text) })
      }
    }
    return ''
  },

  async '@anthropic-ai/sdk'({ origin, key, model }) {
    const client = new Anthropic({ apiKey: key, baseURL: origin, maxRetries: 0 })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }]
    const tools = [{ name, description, input_schema: parameters }]
    const thinking = { type: 'adaptive' as const }
    const cached = { type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const asked = { model, max_tokens: 4096, system: [cached], messages, tools, thinking }
      const message = await client.messages.stream(asked).finalMessage()
      const calls = message.content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      const content = calls.map(({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: read(input),
      }))
      messages.push(
        { role: 'assistant', content: message.content as Anthropic.ContentBlockParam[] },
        { role: 'user', content },
      )
    }
    return ''
  },

  async '@google/genai'({ origin, key, model }) {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin } })
    const contents: Content[] = [{ role: 'user', parts: [{ text: TASK }] }]
    const config = {
      systemInstruction: 'Be brief.',
      temperature: 0.5,
      topP: 0.95,
      topK: 64,
      thinkingConfig: { includeThoughts: true },
      tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
    }
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const parts = []
      for await (const piece of await client.models.generateContentStream({ model, contents, config })) {
        parts.push(...(piece.candidates?.[0]?.content?.parts ?? []))
      }
      const calls = parts.flatMap((part) => part.functionCall ?? [])
      if (calls.length === 0) return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
      const told = calls.map(({ id, name, args }) => ({
        functionResponse: {
          ...(id === undefined ? {} : { id }),
          ...(name === undefined ? {} : { name }),
          response: { output: read(args) },
        },
      }))
      contents.push({ role: 'model', parts }, { role: 'user', parts: told })
    }
    return ''
  },

  async ai({ origin, key, model }) {
    const provider = createOpenAICompatible({ name: 'gateway', baseURL: `${origin}/v1`, apiKey: key })
    const result = streamText({
      model: provider(model),
      instructions: 'Be brief.',
      prompt: TASK,
      tools: { [name]: tool({ description, inputSchema: jsonSchema(parameters), execute: read }) },
      stopWhen: stepCountIs(MOST_TURNS),
      maxRetries: 0,
      onError() {},
    })
    return result.text
  },

  async '@langchain/openai'({ origin, key, model }) {
    const chat = new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: `${origin}/v1` }, maxRetries: 0 })
    const bound = chat.bindTools([{ type: 'function', function: { name, description, parameters } }])
    const messages: BaseMessage[] = [new HumanMessage(TASK)]
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      let whole = new AIMessageChunk('')
      for await (const chunk of await bound.stream(messages)) whole = whole.concat(chunk)
      if (!whole.tool_calls?.length) return whole.text
      messages.push(whole)
      for (const { id, args } of whole.tool_calls) {
        messages.push(new ToolMessage({ tool_call_id: id ?? '', content: read(args) }))
      }
    }
    return ''
  },

  async 'cohere-ai'({ origin, key, model }) {
    const client = new CohereClientV2({ baseUrl: origin, token: key, maxRetries: 0 })
    const messages: Cohere.ChatMessageV2[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: TASK },
    ]
    const tools = [{ type: 'function' as const, function: { name, description, parameters } }]
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      let [text, toolPlan] = ['', '']
      const toolCalls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
      for await (const event of await client.chatStream({ model, messages, tools, maxTokens: 500 })) {
        if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? ''
        if (event.type === 'tool-plan-delta') toolPlan += event.delta?.message?.toolPlan ?? ''
        const call =
          event.type === 'tool-call-start' || event.type === 'tool-call-delta'
            ? event.delta?.message?.toolCalls
            : undefined
        if (event.type === 'tool-call-start') {
          const { id = '', function: called } = (call ?? {}) as {
            id?: string
            function?: { name?: string; arguments?: string }
          }
          toolCalls.push({
            id,
            type: 'function',
            function: { name: called?.name ?? '', arguments: called?.arguments ?? '' },
          })
        }
        const last = toolCalls.at(-1)
        if (event.type === 'tool-call-delta' && last) last.function.arguments += call?.function?.arguments ?? ''
      }
      if (toolCalls.length === 0) return text
      messages.push({ role: 'assistant', toolCalls, toolPlan: toolPlan || 'I read the file.' })
      for (const call of toolCalls) {
        messages.push({ role: 'tool', toolCallId: call.id, content: readAs(call.function.arguments) })
      }
    }
    return ''
  },
}
