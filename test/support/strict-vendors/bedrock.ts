import * as z from 'zod'
import { awsEvent } from '../aws-events.ts'
import { answerTo } from './agent.ts'
import { checked, cut, Refusal, repeated, type StrictVendor, type Wrong, whole } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const toolName = text.max(64).regex(/^[a-zA-Z0-9_-]+$/)
const useId = text
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/)
const point = z.strictObject({ type: z.literal('default'), ttl: text.optional() })
/** A union of Smithy: one member, named by its key. */
const union = <S extends z.ZodRawShape>(members: S) =>
  z
    .strictObject(members)
    .partial()
    .refine((one) => Object.keys(one).length === 1, 'must have exactly one member')
const block = union({
  text,
  image: some,
  document: z.strictObject({
    name: text.max(200).regex(/^(?!.*\s{2})[a-zA-Z0-9\s\-()[\]]+$/),
    format: text.optional(),
    source: some,
    context: text.optional(),
    citations: some.optional(),
  }),
  video: some,
  toolUse: z.strictObject({ toolUseId: useId, name: toolName, input: some, type: text.optional() }),
  toolResult: z.strictObject({
    toolUseId: useId,
    content: z.array(union({ text, json: some, image: some, document: some, video: some })),
    status: z.enum(['success', 'error']).optional(),
    type: text.optional(),
  }),
  reasoningContent: union({
    reasoningText: z.strictObject({ text, signature: text.optional() }),
    redactedContent: text,
  }),
  guardContent: some,
  cachePoint: point,
})
const schema = z.strictObject({
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(block).min(1) })).min(1),
  system: z.array(union({ text: text.min(1), guardContent: some, cachePoint: point })).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().min(1).max(64_000).optional(),
      temperature: z.number().min(0).max(1).optional(),
      topP: z.number().min(0).max(1).optional(),
      stopSequences: z.array(text.min(1)).optional(),
    })
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z
        .array(
          union({
            toolSpec: z.strictObject({
              name: toolName,
              description: text.min(1).optional(),
              inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal('object') }) }),
              strict: z.boolean().optional(),
            }),
            systemTool: some,
            cachePoint: point,
          }),
        )
        .min(1),
      toolChoice: union({
        auto: z.strictObject({}),
        any: z.strictObject({}),
        tool: z.strictObject({ name: toolName }),
      }).optional(),
    })
    .optional(),
  additionalModelRequestFields: some.optional(),
  additionalModelResponseFieldPaths: z.array(text).optional(),
  guardrailConfig: some.optional(),
  outputConfig: some.optional(),
  performanceConfig: some.optional(),
  promptVariables: some.optional(),
  requestMetadata: z.record(text, text).optional(),
  serviceTier: some.optional(),
})
type Body = z.output<typeof schema>

/** The fields that Claude on Bedrock takes beside those of Converse. */
const ADDITIONAL = new Set(['thinking', 'top_k', 'anthropic_beta', 'tool_choice', 'output_config', 'reasoning_config'])

/** Bedrock's Converse, with a Claude behind it that thinks when it is told to. */
export const bedrock: StrictVendor = ({ path, headers, body }, serial) => {
  const authorization = headers.authorization ?? ''
  if (!/^(AWS4-HMAC-SHA256|Bearer) /.test(authorization)) {
    throw new Refusal(
      403,
      { message: 'Missing Authentication Token' },
      { 'x-amzn-errortype': 'MissingAuthenticationTokenException' },
    )
  }
  const asked = checked(schema, body, inWordsOfBedrock)
  checkTurns(asked)
  const additional = asked.additionalModelRequestFields ?? {}
  const strange = Object.keys(additional).find((name) => !ADDITIONAL.has(name))
  if (strange) throw refused(`The model returned the following errors: ${strange}: Extra inputs are not permitted`)
  const mode = additional.thinking as { type?: string; budget_tokens?: number } | undefined
  const thinks = mode !== undefined && mode.type !== 'disabled'
  const { temperature, topP, maxTokens } = asked.inferenceConfig ?? {}
  if (thinks && temperature !== undefined && temperature !== 1) {
    throw refused(
      'The model returned the following errors: `temperature` may only be set to 1 when thinking is enabled.',
    )
  }
  if (temperature !== undefined && topP !== undefined) {
    throw refused(
      'The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model.',
    )
  }
  if ((mode?.budget_tokens ?? 0) >= (maxTokens ?? 64_000)) {
    throw refused(
      'The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`.',
    )
  }

  const newest = asked.messages.at(-1)?.content ?? []
  const results = newest.flatMap((one) => one.toolResult?.content ?? [])
  const tools = (asked.toolConfig?.tools ?? []).flatMap(({ toolSpec }) =>
    toolSpec ? [{ name: toolSpec.name, schema: toolSpec.inputSchema.json }] : [],
  )
  const said = answerTo({
    tools,
    newest: (results.length > 0 ? results : newest).map((one) => one.text ?? '').join('\n'),
    format: formatOf(additional) ?? formatOf(asked),
  })
  const usage = { inputTokens: 50, outputTokens: 9, totalTokens: 59 }
  const stopReason = said.call ? 'tool_use' : 'end_turn'
  const call = said.call && { toolUseId: `tooluse_${1000 + serial}`, name: said.call.name }
  const signature = signatureOf(said.thought)
  if (!path.endsWith('/converse-stream')) {
    const content = [
      ...(thinks ? [{ reasoningContent: { reasoningText: { text: said.thought, signature } } }] : []),
      ...(said.text === undefined ? [] : [{ text: said.text }]),
      ...(call ? [{ toolUse: { ...call, input: said.call?.arguments } }] : []),
    ]
    return whole({ output: { message: { role: 'assistant', content } }, stopReason, usage, metrics: { latencyMs: 9 } })
  }
  const pieces = [awsEvent('messageStart', { role: 'assistant' })]
  let contentBlockIndex = 0
  const blockOf = (deltas: readonly object[], start?: object) => {
    if (start) pieces.push(awsEvent('contentBlockStart', { contentBlockIndex, start }))
    for (const delta of deltas) pieces.push(awsEvent('contentBlockDelta', { contentBlockIndex, delta }))
    pieces.push(awsEvent('contentBlockStop', { contentBlockIndex }))
    contentBlockIndex++
  }
  if (thinks) {
    const thoughts = cut(said.thought).map((piece) => ({ reasoningContent: { text: piece } }))
    blockOf([...thoughts, { reasoningContent: { signature } }])
  }
  if (said.text !== undefined) blockOf(cut(said.text).map((piece) => ({ text: piece })))
  if (call) {
    const input = cut(JSON.stringify(said.call?.arguments))
    blockOf(
      input.map((piece) => ({ toolUse: { input: piece } })),
      { toolUse: call },
    )
  }
  pieces.push(awsEvent('messageStop', { stopReason }), awsEvent('metadata', { usage, metrics: { latencyMs: 9 } }))
  return { contentType: 'application/vnd.amazon.eventstream', pieces }
}

/** As Anthropic signs, whose signatures are known on every platform. */
const signatureOf = (thought: string) => `Eu${Buffer.from(thought).toString('base64')}`

function formatOf(fields: object): unknown {
  const { output_config: own, outputConfig: general } = fields as Record<string, Record<string, unknown> | undefined>
  const format = own?.format as { schema?: unknown } | undefined
  const structure = (general?.textFormat as { structure?: { jsonSchema?: { schema?: string } } } | undefined)?.structure
  return format?.schema ?? (structure?.jsonSchema?.schema && JSON.parse(structure.jsonSchema.schema))
}

function checkTurns({ messages, toolConfig }: Body): void {
  const usesTools = messages.some(({ content }) => content.some((one) => one.toolUse || one.toolResult))
  if (usesTools && !toolConfig) {
    throw refused('The toolConfig field must be defined when using toolUse and toolResult content blocks.')
  }
  const names = (toolConfig?.tools ?? []).flatMap(({ toolSpec }) => toolSpec?.name ?? [])
  if (repeated(names).length > 0)
    throw refused(`The tool ${repeated(names)[0]} is already defined at toolConfig.tools.`)
  let open: string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    if (index === 0 && role !== 'user')
      throw refused(
        'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
      )
    if (messages[index - 1]?.role === role) {
      throw refused(
        'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
      )
    }
    for (const [at, one] of content.entries()) {
      if (one.text?.trim() === '') {
        throw refused(
          `The text field in the ContentBlock object at messages.${index}.content.${at} is blank. Add text to the text field, and try again.`,
        )
      }
      const reasoned = one.reasoningContent?.reasoningText
      if (reasoned && reasoned.signature?.split('.')[0] !== signatureOf(reasoned.text)) {
        throw refused(
          `The model returned the following errors: messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block`,
        )
      }
    }
    const told = content.flatMap((one) => one.toolResult?.toolUseId ?? [])
    if (told.length > open.length) {
      throw refused(
        `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`,
      )
    }
    const lacking = open.filter((id) => !told.includes(id))
    if (lacking.length > 0) {
      throw refused(
        `Expected toolResult blocks at messages.${index}.content for the following Ids: ${lacking.join(', ')}`,
      )
    }
    open = content.flatMap((one) => one.toolUse?.toolUseId ?? [])
    if (repeated(open).length > 0)
      throw refused(`The toolUse blocks at messages.${index}.content contain duplicate Ids: ${repeated(open)[0]}`)
  }
  if (messages.at(-1)?.role === 'assistant') {
    throw refused('The model returned the following errors: This model does not support assistant message prefill.')
  }
}

function inWordsOfBedrock({ at, unknown, missing, message }: Wrong): Refusal {
  const failed =
    unknown !== undefined ? `extraneous key [${unknown}] is not permitted` : missing ? 'is a required field' : message
  return refused(`1 validation error detected: Value at '${at}' failed to satisfy constraint: ${failed}`)
}

function refused(message: string): Refusal {
  return new Refusal(400, { message }, { 'x-amzn-errortype': 'ValidationException' })
}
