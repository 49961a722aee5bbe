import * as z from 'zod'
import { answerTo } from './agent.ts'
import { checked, events, frame, Refusal, type StrictVendor, type Wrong, whole } from './vendor.ts'

const text = z.string()
const some = z.looseObject({})
const name = text.regex(
  /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  'Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.',
)
const part = z.strictObject({
  text: text.optional(),
  thought: z.boolean().optional(),
  thoughtSignature: text.optional(),
  functionCall: z.strictObject({ id: text.optional(), name, args: some.optional() }).optional(),
  functionResponse: z
    .strictObject({ id: text.optional(), name, response: some, parts: z.array(some).optional() })
    .optional(),
  inlineData: z.strictObject({ mimeType: text, data: text, displayName: text.optional() }).optional(),
  fileData: z.strictObject({ mimeType: text.optional(), fileUri: text }).optional(),
  executableCode: some.optional(),
  codeExecutionResult: some.optional(),
  mediaResolution: some.optional(),
  videoMetadata: some.optional(),
  toolCall: some.optional(),
  toolResponse: some.optional(),
  partMetadata: some.optional(),
})
const content = z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) })

/** The subset of OpenAPI's schema that `parameters` and `responseSchema` are written in. */
const schema: z.ZodType = z.lazy(() =>
  z.strictObject({
    type: z
      .enum(
        ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL', 'TYPE_UNSPECIFIED'].flatMap((one) => [
          one,
          one.toLowerCase(),
        ]),
      )
      .optional(),
    format: text.optional(),
    title: text.optional(),
    description: text.optional(),
    nullable: z.boolean().optional(),
    enum: z.array(text.min(1)).optional(),
    maxItems: z.unknown().optional(),
    minItems: z.unknown().optional(),
    properties: z.record(text, schema).optional(),
    required: z.array(text).optional(),
    minProperties: z.unknown().optional(),
    maxProperties: z.unknown().optional(),
    minLength: z.unknown().optional(),
    maxLength: z.unknown().optional(),
    pattern: text.optional(),
    example: z.unknown().optional(),
    anyOf: z.array(schema).optional(),
    propertyOrdering: z.array(text).optional(),
    default: z.unknown().optional(),
    items: schema.optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
)
const tool = z.strictObject({
  functionDeclarations: z
    .array(
      z.strictObject({
        name,
        description: text.optional(),
        behavior: text.optional(),
        parameters: schema.optional(),
        parametersJsonSchema: some.optional(),
        response: schema.optional(),
        responseJsonSchema: some.optional(),
      }),
    )
    .optional(),
  googleSearch: some.optional(),
  codeExecution: some.optional(),
  urlContext: some.optional(),
  fileSearch: some.optional(),
  googleMaps: some.optional(),
  computerUse: some.optional(),
})

/** The fields of `generateContent`, as Google's reference and the types of its client have them. */
const body = z.strictObject({
  model: text.optional(),
  contents: z.array(content).min(1),
  // Its role is not read: an older client of Google's says `system`.
  systemInstruction: content.extend({ role: text.optional() }).optional(),
  tools: z.array(tool).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z
        .strictObject({
          mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
          allowedFunctionNames: z.array(text).optional(),
        })
        .optional(),
      retrievalConfig: some.optional(),
      includeServerSideToolInvocations: z.boolean().optional(),
    })
    .optional(),
  safetySettings: z.array(some).optional(),
  cachedContent: text.optional(),
  serviceTier: text.optional(),
  store: z.boolean().optional(),
  generationConfig: z
    .strictObject({
      candidateCount: z.int().min(1).max(8).optional(),
      stopSequences: z.array(text).max(5).optional(),
      maxOutputTokens: z.int().min(1).max(65_536).optional(),
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().min(0).max(1).optional(),
      topK: z.int().min(1).optional(),
      seed: z.int().optional(),
      presencePenalty: z.number().min(-2).max(2).optional(),
      frequencyPenalty: z.number().min(-2).max(2).optional(),
      responseMimeType: text.optional(),
      responseSchema: schema.optional(),
      responseJsonSchema: some.optional(),
      responseModalities: z.array(text).optional(),
      responseLogprobs: z.boolean().optional(),
      logprobs: z.int().min(0).max(20).optional(),
      enableEnhancedCivicAnswers: z.boolean().optional(),
      speechConfig: some.optional(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean().optional(),
          thinkingBudget: z.int().optional(),
          thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']).optional(),
        })
        .optional(),
      imageConfig: some.optional(),
      mediaResolution: text.optional(),
    })
    .optional(),
})
type Body = z.output<typeof body>

/** What the model signs a call with. */
const SIGNATURE = 'CiQBjz1rX8signatureOfTheCall'
/** What Google's documentation gives for calls that another model has made. */
const UNSIGNED = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']

/** Google's Gemini API, with a model that thinks and signs its calls. */
export const gemini: StrictVendor = ({ path, headers, body: bytes }, serial) => {
  if (headers['x-goog-api-key'] === undefined && !path.includes('key=')) {
    throw refused("Method doesn't allow unregistered callers.", 403, 'PERMISSION_DENIED')
  }
  if (path.includes(':countTokens')) return whole({ totalTokens: 50, promptTokensDetails: [] })
  const asked = checked(body, bytes, inWordsOfGoogle)
  checkTurns(asked)
  checkTools(asked)

  const newest = asked.contents.at(-1)?.parts ?? []
  const results = newest.filter((one) => one.functionResponse)
  const functions = (asked.tools ?? []).flatMap((one) => one.functionDeclarations ?? [])
  const config = asked.generationConfig
  const said = answerTo({
    tools: functions.map((one) => ({ name: one.name, schema: one.parametersJsonSchema ?? one.parameters ?? {} })),
    newest: (results.length > 0
      ? results.map((one) => JSON.stringify(one.functionResponse?.response))
      : newest.map((one) => one.text ?? '')
    )
      .join('\n')
      .replaceAll('\\n', '\n'),
    choice: asked.toolConfig?.functionCallingConfig?.mode === 'NONE' ? 'none' : 'auto',
    format: config?.responseJsonSchema ?? config?.responseSchema,
  })
  const parts = [
    ...(config?.thinkingConfig?.includeThoughts ? [{ text: said.thought, thought: true }] : []),
    ...(said.text === undefined ? [] : [{ text: said.text }]),
    ...(said.call
      ? [{ functionCall: { name: said.call.name, args: said.call.arguments }, thoughtSignature: SIGNATURE }]
      : []),
  ]
  const usageMetadata = { promptTokenCount: 50, candidatesTokenCount: 6, thoughtsTokenCount: 3, totalTokenCount: 59 }
  const answer = (some: object[], finishReason?: string) => ({
    candidates: [{ content: { role: 'model', parts: some }, index: 0, ...(finishReason ? { finishReason } : {}) }],
    usageMetadata,
    modelVersion: 'gemini-3-pro',
    responseId: `r-${serial}`,
  })
  if (!path.includes(':streamGenerateContent')) return whole(answer(parts, 'STOP'))
  return events(parts.map((one, index) => frame(answer([one], index === parts.length - 1 ? 'STOP' : undefined))))
}

function checkTurns({ contents }: Body): void {
  let calls: number | undefined
  for (const [index, { role, parts }] of contents.entries()) {
    for (const [at, one] of parts.entries()) {
      const data = Object.keys(one).filter(
        (key) => !['thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution', 'partMetadata'].includes(key),
      )
      if (data.length !== 1) {
        throw refused(
          `Unable to submit request because contents[${index}].parts[${at}] must have one initialized field.`,
        )
      }
    }
    const made = parts.filter((one) => one.functionCall)
    const told = parts.filter((one) => one.functionResponse)
    if (told.length > 0 && told.length !== calls) {
      throw refused(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    }
    if (told.length === 0 && (calls ?? 0) > 0) {
      throw refused('Please ensure that function call turn is immediately followed by a function response turn.')
    }
    const before = contents[index - 1]
    if (made.length > 0 && before?.role !== 'user') {
      throw refused(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    }
    if (made.length > 0 && role !== 'model') throw refused('Please use a valid role: user, model.')
    const signature = made[0]?.thoughtSignature
    if (made.length > 0 && signature === undefined) {
      throw refused(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Function call \`${made[0]?.functionCall?.name}\`, position ${index}.`,
      )
    }
    if (
      signature !== undefined &&
      signature !== SIGNATURE &&
      !UNSIGNED.map(encoded).includes(signature) &&
      !UNSIGNED.includes(signature)
    ) {
      throw refused('Thought signature is not valid.')
    }
    calls = made.length
  }
  if (contents[0]?.role === 'model') throw refused('Please ensure that the first turn is of the user.')
  if (contents.at(-1)?.role === 'model') throw refused('Please ensure that single turn requests end with a user role.')
}

const encoded = (text: string) => Buffer.from(text).toString('base64')

function checkTools({ tools = [] }: Body): void {
  const functions = tools.flatMap((one) => one.functionDeclarations ?? [])
  const isOther = tools.some((one) => Object.keys(one).some((key) => key !== 'functionDeclarations'))
  if (functions.length > 0 && isOther) throw refused('Tool use with function calling is unsupported')
  if (functions.length > 512) throw refused('At most 512 function declarations can be specified.')
  for (const [index, one] of functions.entries()) {
    if (one.parameters && one.parametersJsonSchema)
      throw refused('only one of parameters and parameters_json_schema can be set')
    checkRequired(one.parameters, `GenerateContentRequest.tools[0].function_declarations[${index}].parameters`)
  }
}

function checkRequired(schema: unknown, at: string): void {
  const {
    required = [],
    properties = {},
    items,
    type,
  } = (schema ?? {}) as { required?: string[]; properties?: Record<string, unknown>; items?: unknown; type?: string }
  const strange = required.findIndex((one) => !Object.hasOwn(properties, one))
  if (strange !== -1) throw refused(`* ${at}.required[${strange}]: property is not defined`)
  if (type?.toUpperCase() === 'ARRAY' && items === undefined) throw refused(`* ${at}.items: missing field.`)
  for (const [key, inner] of Object.entries(properties)) checkRequired(inner, `${at}.properties[${key}]`)
  if (items) checkRequired(items, `${at}.items`)
}

function inWordsOfGoogle({ at, unknown, missing, message }: Wrong): Refusal {
  const place = at.replace(/\.(\d+)/g, '[$1]')
  if (unknown === undefined)
    return refused(`* GenerateContentRequest.${place}: ${missing ? 'is not specified' : message}`)
  const holder = place.includes('.') ? ` at '${place.slice(0, place.lastIndexOf('.'))}'` : ''
  return refused(`Invalid JSON payload received. Unknown name "${unknown}"${holder}: Cannot find field.`)
}

function refused(message: string, code = 400, status = 'INVALID_ARGUMENT'): Refusal {
  return new Refusal(code, { error: { code, message, status } })
}
