/** One thing to change in the configuration file. Holds names and places, never a value of a secret. */
export interface Mistake {
  /** `model_list[2].gateway_params.api_key`, or `line 3, column 7` where the text is not YAML. */
  readonly path: string
  /** Continues the path: what is wrong there, and what to do. */
  readonly message: string
}

/** The configuration cannot be used; `mistakes` names everything that has to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    this.mistakes = mistakes
  }
}

/** A place in the configuration as an operator writes it. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[\w-]+$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`
    else text += `[${JSON.stringify(String(part))}]`
  }
  return text === '' ? 'top level' : text
}
