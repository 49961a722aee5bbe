import * as z from 'zod'
import { answerTo } from './agent.ts'
import { isLeftToIt } from './deepseek.ts'
import { chatAnswer, chatFields, chatOf, checkCalls, questionOf, textOf, walk } from './openai-chat.ts'
import { checked, Refusal, repeated, type StrictVendor } from './vendor.ts'

const schema = z.looseObject({
  ...chatFields,
  messages: z.array(z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool']) })).min(1),
  thinking: z.looseObject({ type: z.enum(['enabled', 'disabled']) }).nullish(),
  reasoning_effort: z.string().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(5)]).nullish(),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }))
    .optional(),
})

/** Kimi's chat, with a model that thinks unless it is told not to. Its schemas are of Moonshot's own kind. */
export const moonshot: StrictVendor = ({ headers, body }, serial) => {
  if (!headers.authorization?.startsWith('Bearer ')) throw refused('Invalid Authentication', 401)
  const asked = checked(schema, body, ({ at, message }) => refused(`Invalid request: ${at}: ${message}`))
  const chat = chatOf(asked)
  checkCalls(chat.messages, (why) => refused(why))
  const thinks = asked.thinking?.type !== 'disabled'
  for (const [index, message] of asked.messages.entries()) {
    if (message.role !== 'assistant' || message.partial === true) continue
    const calls = (message.tool_calls as unknown[] | null | undefined)?.length
    if (!calls && textOf(message.content).trim() === '') {
      throw refused(`the message at position ${index} with role 'assistant' must not be empty`)
    }
    if (thinks && calls && !message.reasoning_content) {
      throw refused(
        `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
      )
    }
  }
  const functions = (asked.tools ?? []).map((one) => one.function)
  for (const { name, parameters } of functions) {
    if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(name)) {
      throw refused('Invalid request: function name is invalid, must start with a letter')
    }
    checkSchema(name, parameters)
  }
  const [twice] = repeated(functions.map(({ name }) => name))
  if (twice !== undefined) throw refused(`Invalid request: function name ${twice} is duplicated`)
  const choice = asked.tool_choice
  const isOpen = /^kimi-k3/.test(asked.model) ? choice === 'required' : !thinks
  if (!isLeftToIt(choice) && !isOpen) throw refused("tool_choice 'specified' is incompatible with thinking enabled")
  const id = `${chat.tools?.length ? 'functions.call' : 'call'}:${serial}`
  return chatAnswer(chat, answerTo(questionOf(chat)), serial, { id, thoughts: 'reasoning_content', tellsUsage: true })
}

function checkSchema(name: string, parameters: unknown): void {
  if (parameters == null) return
  const no = (why: string) =>
    refused(
      `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <${why}>`,
    )
  if ((parameters as { type?: unknown }).type !== 'object') throw no(`At path 'root' of ${name}: type must be object`)
  walk(parameters, (one) => {
    if (Array.isArray(one.items) || one.prefixItems !== undefined) throw no('items must be an object')
    if (typeof one.$ref === 'string' && !/^#($|\/\$defs\/)/.test(one.$ref))
      throw no('references must start with #/$defs/')
    const members = Object.values((one.properties as object | undefined) ?? {})
    if ([...members, one.items].some((member) => typeof member === 'boolean')) throw no('a schema must be an object')
  })
}

function refused(message: string, status = 400): Refusal {
  return new Refusal(status, { error: { message, type: 'invalid_request_error' } })
}
