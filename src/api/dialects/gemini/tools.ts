import { camelCase } from '../../../lib/json/camel-case.ts'
import { asList, asText, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import { applyTable, type Drop } from '../../../modes/field-table.ts'
import { inexpressible } from '../inexpressible.ts'
import { FUNCTION_FIELDS, TOOL_CONFIG_FIELDS, VENDOR_TOOLS } from './fields.ts'
import { jsonSchema } from './json-schema.ts'

/** The tools and the tool choice of a request as chat has them. */
export function chatTools({ tools, toolConfig }: JsonRecord, drop: Drop): JsonRecord {
  const functions: JsonRecord[] = []
  let refusal: Error | undefined
  for (const [index, value] of asList(tools).entries()) {
    const { functionDeclarations, ...others } = camelCase(value)
    const at = `tools.${index}`
    for (const [number, one] of asList(functionDeclarations).entries()) {
      functions.push(chatTool(camelCase(one), `${at}.functionDeclarations.${number}`, drop))
    }
    for (const [name, asked] of Object.entries(others)) {
      if (asked === undefined || asked === null) continue
      const message = `'${at}.${name}': only a provider of this dialect has this tool.`
      const family = VENDOR_TOOLS.find((one) => one === name)
      if (family === undefined) throw inexpressible(`${at}.${name}`, message)
      refusal ??= inexpressible(`${at}.${name}`, message)
      drop(`tools.${family}`)
    }
  }
  // The answer would mean something else without the only tools.
  if (refusal && functions.length === 0) throw refusal
  const choice = chatToolChoice(toolConfig, functions.length > 0, drop)
  return functions.length === 0 ? {} : { tools: functions, ...choice }
}

function chatTool(declared: JsonRecord, at: string, drop: Drop): JsonRecord {
  applyTable(declared, FUNCTION_FIELDS, {
    drop: (field) => drop(`tools.functionDeclarations.${field}`),
    refuse(field) {
      throw inexpressible(`${at}.${field}`, `'${at}.${field}': only a provider of this dialect knows it.`)
    },
  })
  const { name, description, parameters, parametersJsonSchema } = declared
  const schema = isRecord(parametersJsonSchema)
    ? parametersJsonSchema
    : isRecord(parameters)
      ? jsonSchema(parameters)
      : {}
  return {
    type: 'function',
    function: {
      name: asText(name),
      ...(description ? { description } : {}),
      parameters: { type: 'object', ...(schema.properties === undefined ? { properties: {} } : {}), ...schema },
    },
  }
}

function chatToolChoice(toolConfig: unknown, hasFunctions: boolean, drop: Drop): JsonRecord {
  const config = camelCase(toolConfig)
  applyTable(config, TOOL_CONFIG_FIELDS, {
    drop: (field) => drop(`toolConfig.${field}`),
    refuse(field) {
      const at = `toolConfig.${field}`
      throw inexpressible(at, `'${at}': only a provider of this dialect knows it.`)
    },
  })
  const { mode, allowedFunctionNames } = camelCase(config.functionCallingConfig)
  const names = asList(allowedFunctionNames).map(asText)
  const word = asText(mode).toUpperCase()
  if (!hasFunctions) {
    if (word === 'ANY') drop('toolConfig.functionCallingConfig')
    return {}
  }
  const tools = names.map((name) => ({ type: 'function', function: { name } }))
  const allowed = (demand: string) => ({
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: demand, tools } },
  })
  switch (word) {
    case 'NONE':
      return { tool_choice: 'none' }
    case 'ANY':
      if (tools.length === 0) return { tool_choice: 'required' }
      return tools.length === 1 ? { tool_choice: tools[0] } : allowed('required')
    case '':
    case 'AUTO':
    case 'MODE_UNSPECIFIED':
    case 'VALIDATED':
      return tools.length === 0 ? {} : allowed('auto')
    default:
      throw inexpressible(
        'toolConfig.functionCallingConfig.mode',
        "'toolConfig.functionCallingConfig.mode': one of AUTO, ANY, NONE and VALIDATED.",
      )
  }
}
